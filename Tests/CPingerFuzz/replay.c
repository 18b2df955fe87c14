/* Runs a fuzz target on files without libFuzzer, so that each seed and each earlier crash is a test with any compiler. */
#include <dirent.h>

#include "fuzz.h"

static int replay(const char *path) {
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = malloc(1 << 20);
    if (!file || !bytes) {
        perror(path);
        exit(1);
    }
    size_t size = fread(bytes, 1, 1 << 20, file);
    fclose(file);
    /* Of exactly this size, so that a sanitizer reports reads beyond it. */
    bytes = realloc(bytes, size ? size : 1);
    LLVMFuzzerTestOneInput(bytes, size);
    free(bytes);
    return 1;
}

static int replay_folder(const char *path) {
    DIR *folder = opendir(path);
    if (!folder) return replay(path);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        char name[4096];
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        if (entry->d_name[0] != '.') count += replay(name);
    }
    closedir(folder);
    return count;
}

int main(int argc, char **argv) {
    int count = 0;
    for (int i = 1; i < argc; i++) count += replay_folder(argv[i]);
    printf("%d inputs\n", count);
    return count ? 0 : 1;
}
