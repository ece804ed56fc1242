/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What an NVMe namespace says of the format that it has (NVM Command Set, Identify Namespace).
 */
#ifndef DMDA_NAMESPACE_H
#define DMDA_NAMESPACE_H

#include <dieaware/platform.h>

/* The answer to Identify */
#define DMDA_IDENTIFY_BYTES	4096

/**
 * dmda_namespace_has_metadata() - do its blocks have metadata, or protection information?
 * @id: the answer to Identify Namespace, of DMDA_IDENTIFY_BYTES; it is believed whatever it is
 *
 * The bits that carry hints are part of the storage tag there, or ask for a check of it.
 */
bool dmda_namespace_has_metadata(const u8 *id);

#endif /* DMDA_NAMESPACE_H */
