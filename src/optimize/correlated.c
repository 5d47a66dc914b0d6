#include "optimize/correlated.h"
uint32_t fth_joint_kinds(const struct fth_joint *j){ (void)j; return 0;}
double fth_joint_availability(const struct fth_joint *j, const struct fth_pool_part *parts, uint64_t m){(void)j;(void)parts;(void)m; return 0;}
