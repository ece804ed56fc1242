/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Named drives: a configuration starts from one of them, and single properties are changed
 * afterwards. The numbers are those of core/profiles.h.
 */
#ifndef NVMEV_PROFILE_H
#define NVMEV_PROFILE_H

#include <linux/types.h>

struct nvmev_config;

/**
 * nvmev_profile_load() - set a configuration to a profile
 * @config: to fill
 * @name: name of the profile
 *
 * Return: 0 or -EINVAL if there is no such profile.
 */
int nvmev_profile_load(struct nvmev_config *config, const char *name);

/**
 * nvmev_profile_names() - list the profiles
 * @buf: gets their names, each after a blank
 * @bytes: size of @buf
 *
 * Return: length of the text.
 */
int nvmev_profile_names(char *buf, size_t bytes);

#endif /* NVMEV_PROFILE_H */
