// The kernels' entries, registered with the simulated NPU; one library per architecture and dtype.
#include "launch.h"

#include "col2_im.cpp"
#include "col2_im_nd.cpp"
#include "im2_col_nd.cpp"

SIM_REGISTER_KERNEL(col2_im);
SIM_REGISTER_KERNEL(col2_im_nd);
SIM_REGISTER_KERNEL(im2_col_nd);
