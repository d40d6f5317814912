# pawl_flags: what every target of the project is compiled and linked with.
#
# NDEBUG is defined nowhere: an assertion guards stored history, and costs little beside a commit.

if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_C_FLAGS_DEBUG "-Og -g")
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O2 -g")
set(CMAKE_C_FLAGS_RELEASE "-O2 -g")
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

add_library(pawl_flags INTERFACE)
target_compile_options(pawl_flags INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla)
if(PAWL_WERROR)
    target_compile_options(pawl_flags INTERFACE -Werror)
endif()

if(PAWL_SANITIZE)
    set(pawl_sanitize -fsanitize=${PAWL_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_compile_options(pawl_flags INTERFACE ${pawl_sanitize} -O1 -g1) # lines are enough for a report, and link fast
    target_link_options(pawl_flags INTERFACE ${pawl_sanitize})
elseif(PAWL_COVERAGE)
    target_compile_options(pawl_flags INTERFACE --coverage -O0)
    target_link_options(pawl_flags INTERFACE --coverage)
elseif(NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
    target_compile_options(pawl_flags INTERFACE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -fstack-protector-strong)
    target_link_options(pawl_flags INTERFACE -Wl,-z,relro,-z,now)
endif()
