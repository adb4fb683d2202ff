# Makes this simulated installation the one in use: source it, as CANN's own set_env.sh.
_ascend_home=$(cd "$(dirname "${BASH_SOURCE[0]:-$0}")" && pwd)
export ASCEND_HOME_PATH=$_ascend_home
export ASCEND_TOOLKIT_HOME=$_ascend_home
export ASCEND_OPP_PATH=$_ascend_home/opp
export LD_LIBRARY_PATH=$_ascend_home/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export PATH=$_ascend_home/compiler/bin:$_ascend_home/tools/opbuild:$PATH
export CMAKE_PREFIX_PATH=$_ascend_home/lib64/cmake${CMAKE_PREFIX_PATH:+:$CMAKE_PREFIX_PATH}
unset _ascend_home
