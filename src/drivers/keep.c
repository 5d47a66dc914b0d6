/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/keep.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "drivers/protocol.h"

int fth_keep_dir(const char *path, struct fth_error *err)
{
	char *copy = fth_strdup(path);
	int r = 0;
	for (char *p = copy + 1; !r && *p; p++) {
		if (*p != '/')
			continue;
		*p = 0;
		r = mkdir(copy, 0755) && errno != EEXIST ? -errno : 0;
		*p = '/';
	}
	if (!r && mkdir(copy, 0700) && errno != EEXIST)
		r = -errno;
	free(copy);
	return r ? fth_fail(err, r, "%s: cannot be made: %s", path, strerror(-r)) : 0;
}

static int sync_folder_of(const char *path)
{
	char *copy = fth_strdup(path), *slash = strrchr(copy, '/');
	if (slash)
		*slash = 0;
	int fd = open(slash ? copy : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	free(copy);
	if (fd < 0)
		return -errno;
	int r = fsync(fd) ? -errno : 0;
	close(fd);
	return r;
}

static int write_synced(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	size_t n = strlen(text);
	ssize_t w = write(fd, text, n);
	int r = w < 0 ? -errno : (size_t)w < n ? -ENOSPC : 0;
	if (!r && fsync(fd))
		r = -errno;
	if (close(fd) && !r)
		r = -errno;
	return r;
}

int fth_keep_write(const char *path, const json_t *doc, struct fth_error *err)
{
	struct fth_str new = {0};
	char *text = json_dumps(doc, JSON_COMPACT | JSON_ENSURE_ASCII);
	fth_str_addf(&new, "%s.new", path);
	int r = text ? write_synced(new.data, text) : -ENOMEM;
	if (!r && rename(new.data, path))
		r = -errno;
	if (!r)
		r = sync_folder_of(path);
	free(text);
	fth_str_release(&new);
	return r ? fth_fail(err, r, "%s: cannot be written: %s", path, strerror(-r)) : 0;
}

json_t *fth_keep_read(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return NULL;
	json_t *doc = json_loadfd(fd, 0, NULL);
	close(fd);
	return doc;
}

static int plain(const struct dirent *d)
{
	return fth_name_is_plain(d->d_name);
}

int fth_keep_each(const char *path, int (*each)(void *arg, const char *name), void *arg)
{
	struct dirent **list;
	int n = scandir(path, &list, plain, alphasort), r = 0;
	if (n < 0)
		return errno == ENOENT ? 0 : -errno;
	for (int i = 0; i < n; i++) {
		if (!r)
			r = each(arg, list[i]->d_name);
		free(list[i]);
	}
	free(list);
	return r;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st, (void)type, (void)at;
	return remove(path) && errno != ENOENT ? -errno : 0;
}

int fth_keep_remove(const char *path)
{
	int r = nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
	return r < 0 && errno == ENOENT ? 0 : r;
}
