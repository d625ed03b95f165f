# lib.cmake -- libhone, and what `cmake --install` puts where.
#
# libhone is client/lib with what it needs of the folders below, linked into one object.  Both forms
# are made of that object, and show the names of libhone.map alone.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(lib ${CMAKE_SOURCE_DIR}/client/lib)
set(lib_out ${CMAKE_BINARY_DIR}/lib/libhone)
set(map ${lib}/libhone.map)
set(lib_headers hone.h kernel.h load.h model.h pool.h tune.h)
list(TRANSFORM lib_headers PREPEND ${CMAKE_SOURCE_DIR}/include/hone/)

file(STRINGS ${map} lib_names REGEX "^\thone_[a-z_]*;")
list(TRANSFORM lib_names REPLACE "[\t;]" "")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${map})
list(JOIN lib_names "\n" lines)
file(WRITE ${lib_out}/names "${lines}\n")
list(TRANSFORM lib_names PREPEND "-Wl,-u," OUTPUT_VARIABLE lib_wants)

set(lib_folders hn_client hn_costmodel hn_db hn_target hn_loopstate hn_proto hn_base)
set(lib_archives)
foreach(folder ${lib_folders})
  list(APPEND lib_archives $<TARGET_FILE:${folder}>)
endforeach()
# In cJSON's place, which libhone opens itself.
add_library(hone_cjson OBJECT ${lib}/cjson/cjson.c)
add_custom_command(OUTPUT ${lib_out}/hone.o DEPENDS hone_cjson ${lib_folders} ${map} VERBATIM
  COMMAND ${CMAKE_C_COMPILER} -r -nostdlib ${lib_wants} $<TARGET_OBJECTS:hone_cjson> -Wl,--start-group ${lib_archives}
    -Wl,--end-group -o ${lib_out}/hone.o)
add_custom_command(OUTPUT ${lib_out}/libhone.a DEPENDS ${lib_out}/hone.o VERBATIM
  COMMAND ${CMAKE_OBJCOPY} --keep-global-symbols=${lib_out}/names ${lib_out}/hone.o
    ${lib_out}/static.o
  COMMAND ${CMAKE_COMMAND} -E rm -f ${lib_out}/libhone.a
  COMMAND ${CMAKE_AR} rcs ${lib_out}/libhone.a ${lib_out}/static.o)
add_custom_target(hone_static ALL DEPENDS ${lib_out}/libhone.a)

set_source_files_properties(${lib_out}/hone.o PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
add_library(hone_shared SHARED ${lib_out}/hone.o)
set_target_properties(hone_shared PROPERTIES LINKER_LANGUAGE C OUTPUT_NAME hone
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR} EXPORT_NAME hone
  LINK_DEPENDS ${map} INSTALL_RPATH "$ORIGIN" PUBLIC_HEADER "${lib_headers}")
target_link_options(hone_shared PRIVATE -Wl,--version-script=${map} -Wl,-z,defs -Wl,--as-needed)
target_link_libraries(hone_shared PRIVATE Threads::Threads m)
target_include_directories(hone_shared INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

# The programs find libraries that lie beside libhone, where a wheel has them.  RPATH, not RUNPATH:
# libraries that these need are meant, too.
set_target_properties(hone honed hone-build hone-board PROPERTIES
  INSTALL_RPATH "$ORIGIN/../lib")
foreach(program hone honed hone-build hone-board)
  target_link_options(${program} PRIVATE -Wl,--disable-new-dtags)
endforeach()

install(TARGETS hone honed hone-build hone-board DESTINATION ${CMAKE_INSTALL_BINDIR}
  COMPONENT programs)
install(TARGETS hone_shared EXPORT honeTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development
  PUBLIC_HEADER DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/hone COMPONENT development)
install(FILES ${lib_out}/libhone.a DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)

# Both packages find the prefix from where they are, so that a folder of files can be moved.
set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/hone)
file(RELATIVE_PATH HONE_PC_UP /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(${lib}/hone.pc.in ${lib_out}/hone.pc @ONLY)
configure_package_config_file(${lib}/honeConfig.cmake.in ${lib_out}/honeConfig.cmake
  INSTALL_DESTINATION ${config_dir})
write_basic_package_version_file(${lib_out}/honeConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${lib_out}/hone.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
install(FILES ${lib_out}/honeConfig.cmake ${lib_out}/honeConfigVersion.cmake
  DESTINATION ${config_dir} COMPONENT development)
install(EXPORT honeTargets NAMESPACE hone:: DESTINATION ${config_dir} COMPONENT development)
