package shim

const sysSeccomp = 277
