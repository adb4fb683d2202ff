#!/usr/bin/env bash
# Builds the op package with the sourced CANN toolkit (>= 9, find_package(ASC)), and runs its example.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

usage() {
    cat <<END
usage: bash build.sh --pkg [--experimental] [--soc=SOCS] [--ops=OPS] [--vendor_name=NAME] [-jN] [--make_clean]
       bash build.sh --run_example OP eager cust [--vendor_name=NAME]

--pkg               build build_out/cann-col2im-NAME_linux-$(uname -m).run
--soc=SOCS          products, separated by commas: ascend910b (the default), ascend910_93, ascend310b
--ops=OPS           operators, separated by commas: ${all_ops// /, } (all by default)
--vendor_name=NAME  the package's vendor: custom by default
-jN                 run N jobs at once; by default as many as there are processors
--make_clean        remove build and build_out first
--experimental      accepted: every operator here is one
--run_example       compile examples/test_aclnn_OP.cpp with the installed package of the vendor, and run it

Other toolkits (8.x project templates, ops-math checkouts), deployment: ascend-col2im build --help
END
}

fail() {
    echo "build.sh: $*" >&2
    exit 1
}

all_ops='col2_im col2_im_nd im2_col_nd'
ops=$all_ops soc=ascend910b vendor=custom jobs=$(nproc)
package=false clean=false
example=()

while (($#)); do
    case $1 in
        --pkg) package=true ;;
        --experimental) ;;
        --make_clean) clean=true ;;
        --soc=*) soc=${1#*=} soc=${soc,,} ;;
        --ops=*) ops=${1#*=} ops=${ops//,/ } ;;
        --vendor_name=*) vendor=${1#*=} ;;
        -j) jobs=${2:?-j needs a number}; shift ;;
        -j*) jobs=${1#-j} ;;
        --run_example)
            (($# >= 3)) || fail "--run_example needs an operator and a mode: --run_example col2_im eager cust"
            example=("$2" "$3")
            shift 2
            if [[ ${2:-} == cust ]]; then
                example+=(cust)
                shift
            fi
            ;;
        -h | --help) usage; exit ;;
        *) usage >&2; fail "unknown option $1" ;;
    esac
    shift
done

for op in $ops; do
    [[ " $all_ops " == *" $op "* ]] || fail "--ops has $op; it must be of: ${all_ops// /, }"
done
[[ $vendor =~ ^[A-Za-z][A-Za-z0-9_]*$ ]] || fail "--vendor_name=$vendor must be letters, digits and underscores"
[[ -n ${ASCEND_HOME_PATH:-} ]] || fail "ASCEND_HOME_PATH is not set: source the set_env.sh of a CANN toolkit, or of a \
simulated one made by: ascend-col2im sim DIR"

build_package() {
    command -v cmake >/dev/null || fail "cmake is not installed: pip install cmake"
    local config=$ASCEND_HOME_PATH/lib64/cmake
    [[ -f $config/asc-config.cmake ]] || fail "$ASCEND_HOME_PATH has no lib64/cmake/asc-config.cmake: this way needs \
CANN 9 or newer; for CANN 8 use ascend-col2im build"
    cmake -S . -B build -DCMAKE_BUILD_TYPE=Release -DASC_DIR="$config" \
        -DASCEND_COMPUTE_UNIT="${soc//,/;}" -DVENDOR_NAME="$vendor" -DCOL2IM_OPS="${ops// /;}"
    cmake --build build --target binary --parallel "$jobs"
    rm -f build/*.run
    cmake --build build --target package --parallel "$jobs"
    mkdir -p build_out
    local name
    name=cann-col2im-${vendor}_linux-$(uname -m).run
    cp build/*.run "build_out/$name"
    echo "built build_out/$name"
}

# The directory of the vendor's installed package: where CANN would find it.
installed_package() {
    local candidate
    local -a custom
    IFS=: read -ra custom <<<"${ASCEND_CUSTOM_OPP_PATH:-}"
    for candidate in ${custom[@]+"${custom[@]}"} "${ASCEND_OPP_PATH:-$ASCEND_HOME_PATH/opp}/vendors/$vendor"; do
        if [[ ${candidate##*/} == "$vendor" && -f $candidate/op_api/lib/libcust_opapi.so ]]; then
            echo "$candidate"
            return
        fi
    done
    fail "no package of vendor $vendor is installed: run build_out/*.run, or ascend-col2im deploy"
}

run_example() {
    local op=$1 mode=$2 origin=${3:-}
    [[ $mode == eager ]] || fail "--run_example $op $mode: the examples are for eager mode"
    [[ $origin == cust ]] || fail "--run_example $op $mode: say cust, the operators are those of a custom package"
    local source=examples/test_aclnn_$op.cpp
    [[ -f $source ]] || fail "there is no $source; examples: $(cd examples && echo test_aclnn_*.cpp)"
    local opp
    opp=$(installed_package)
    mkdir -p build
    # shellcheck disable=SC2086  # CXX may bring arguments, as for make
    ${CXX:-c++} -std=c++17 -O1 -Wall -Wextra "$source" -o "build/test_aclnn_$op" \
        -I"$ASCEND_HOME_PATH/include" -I"$opp/op_api/include" \
        -L"$opp/op_api/lib" -L"$ASCEND_HOME_PATH/lib64" -lcust_opapi -lnnopbase -lascendcl \
        -Wl,-rpath-link,"$ASCEND_HOME_PATH/lib64"
    LD_LIBRARY_PATH=$opp/op_api/lib:$ASCEND_HOME_PATH/lib64:${LD_LIBRARY_PATH:-} "build/test_aclnn_$op"
}

if $clean; then
    rm -rf build build_out
fi
if $package; then
    build_package
fi
if ((${#example[@]})); then
    run_example "${example[@]}"
fi
if ! $clean && ! $package && ((${#example[@]} == 0)); then
    usage >&2
    fail "nothing to do: give --pkg or --run_example"
fi
