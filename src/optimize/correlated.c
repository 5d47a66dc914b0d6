#include "optimize/correlated.h"
uint32_t fth_joint_kinds(const struct fth_joint *j){ (void)j; return 0;}
double fth_joint_availability(const struct fth_joint *j, const struct fth_pool_part *parts, uint64_t m){(void)j;(void)parts;(void)m; return 0;}
double fth_joint_all_down(const struct fth_joint *j, const struct fth_pool_part *parts, const uint32_t *set, uint32_t n){(void)j;(void)parts;(void)set;(void)n;return 0;}
