# packaging/: manual pages, systemd's units, and the Debian package of all that is installed
# (cpack -G DEB): programs, libhone with its headers, the provider for ONNX Runtime.
add_executable(man_hone packaging/man_hone.c)
set_target_properties(man_hone PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/packaging)
set(page ${CMAKE_BINARY_DIR}/packaging/hone.1)
add_custom_command(OUTPUT ${page} DEPENDS man_hone client/cmds.def client/opts.def VERBATIM
  COMMAND sh -c "'$<TARGET_FILE:man_hone>' >'${page}'")
add_custom_target(man ALL DEPENDS ${page})

file(GLOB pages ${CMAKE_SOURCE_DIR}/packaging/man/*.1)
install(FILES ${page} ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT programs)
install(FILES packaging/systemd/honed.service packaging/systemd/honed.socket
  DESTINATION lib/systemd/user COMPONENT programs)
install(FILES README.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT programs)
install(FILES docs/onnxruntime.md docs/replay.md docs/proto.md docs/libhone.md
  DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT development)
install(DIRECTORY examples/query examples/onnxruntime examples/socket
  DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples COMPONENT development)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME hone)
set(CPACK_PACKAGE_VENDOR hone)
set(CPACK_PACKAGE_CONTACT "hone <hone@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "finds fast kernels for tensor programs by search")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# LLVM's development package has the library's name, too, so that it is found at times and at times not.
set(CPACK_DEBIAN_PACKAGE_DEPENDS libllvm22)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "binutils, gcc")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "pkg-config, cmake")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION TRUE)
file(WRITE ${CMAKE_BINARY_DIR}/packaging/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${CMAKE_BINARY_DIR}/packaging/triggers)
include(CPack)
