// AscendCL as the simulated runtime has it: what a program that calls an operator through aclnn includes.
#pragma once

#include "acl/acl_base.h"
#include "acl/acl_rt.h"
