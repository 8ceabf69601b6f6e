{ "targets": [{ "target_name": "hone_cmake", "type": "none", "actions": [{
    "action_name": "cmake", "message": "CMake build of the native core",
    "inputs": ["CMakeLists.txt", "scripts/build-native.mjs"], "outputs": ["<(module_root_dir)/build/.always"],
    "action": ["node", "scripts/build-native.mjs", "--config", "<(CONFIGURATION_NAME)"] }] }] }
