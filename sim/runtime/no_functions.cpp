// Libraries that torch_npu links without needing anything of them until it communicates or builds graphs.
