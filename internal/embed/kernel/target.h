/* TARGET_BEGIN("avx2,fma") … TARGET_END: functions between them may use the
 * instructions named, whatever the flags of the build. */
#define RK_PRAGMA(x) _Pragma(#x)
#if defined(__clang__)
#define TARGET_BEGIN(isa) RK_PRAGMA(clang attribute push(__attribute__((target(isa))), apply_to = function))
#define TARGET_END RK_PRAGMA(clang attribute pop)
#else
#define TARGET_BEGIN(isa) RK_PRAGMA(GCC push_options) RK_PRAGMA(GCC target(isa))
#define TARGET_END RK_PRAGMA(GCC pop_options)
#endif
