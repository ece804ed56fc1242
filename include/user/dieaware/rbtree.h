/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A balanced search tree with the interface of the kernel's rbtree. Inside it is a
 * treap: every node has a priority and is rotated up while it beats its parent's,
 * which keeps the expected depth logarithmic in far fewer lines. The priority is made of the
 * node's address, so that a node is as large as the kernel's.
 */
#ifndef SHIM_RBTREE_H
#define SHIM_RBTREE_H

struct rb_node {
	struct rb_node *rb_left, *rb_right;
	struct rb_node *shim_parent;
};

struct rb_root {
	struct rb_node *rb_node;
};

#define RB_ROOT			((struct rb_root) { NULL })
#define RB_EMPTY_ROOT(root)	(!(root)->rb_node)
#define RB_CLEAR_NODE(node)	((node)->shim_parent = (node))
#define RB_EMPTY_NODE(node)	((node)->shim_parent == (node))
#define rb_parent(node)		((node)->shim_parent)
#define rb_entry(ptr, type, member) container_of(ptr, type, member)
#define rb_entry_safe(ptr, type, member) ({			\
	struct rb_node *shim_node = (ptr);			\
	shim_node ? rb_entry(shim_node, type, member) : NULL; })

static inline u32 shim_rb_priority(const struct rb_node *node)
{
	return ((u64)(uintptr_t)node * 0x9e3779b97f4a7c15ULL) >> 32;
}

static inline void rb_link_node(struct rb_node *node, struct rb_node *parent,
				struct rb_node **link)
{
	node->rb_left = NULL;
	node->rb_right = NULL;
	node->shim_parent = parent;
	*link = node;
}

static inline struct rb_node **shim_rb_link(struct rb_node *node, struct rb_root *root)
{
	struct rb_node *parent = node->shim_parent;

	if (!parent)
		return &root->rb_node;
	return parent->rb_left == node ? &parent->rb_left : &parent->rb_right;
}

/* Exchanges @node with its parent; the order of the tree stays. */
static inline void shim_rb_lift(struct rb_node *node, struct rb_root *root)
{
	struct rb_node *parent = node->shim_parent;
	struct rb_node **link = shim_rb_link(parent, root);
	bool is_left = parent->rb_left == node;
	struct rb_node *inner = is_left ? node->rb_right : node->rb_left;

	if (is_left) {
		parent->rb_left = inner;
		node->rb_right = parent;
	} else {
		parent->rb_right = inner;
		node->rb_left = parent;
	}
	if (inner)
		inner->shim_parent = parent;
	node->shim_parent = parent->shim_parent;
	parent->shim_parent = node;
	*link = node;
}

static inline void rb_insert_color(struct rb_node *node, struct rb_root *root)
{
	while (node->shim_parent &&
	       shim_rb_priority(node->shim_parent) < shim_rb_priority(node))
		shim_rb_lift(node, root);
}

static inline void rb_erase(struct rb_node *node, struct rb_root *root)
{
	struct rb_node *child;

	while (node->rb_left && node->rb_right)
		shim_rb_lift(shim_rb_priority(node->rb_left) > shim_rb_priority(node->rb_right) ?
			     node->rb_left : node->rb_right, root);
	child = node->rb_left ? node->rb_left : node->rb_right;
	*shim_rb_link(node, root) = child;
	if (child)
		child->shim_parent = node->shim_parent;
}

static inline struct rb_node *rb_first(const struct rb_root *root)
{
	struct rb_node *node = root->rb_node;

	while (node && node->rb_left)
		node = node->rb_left;
	return node;
}

static inline struct rb_node *rb_last(const struct rb_root *root)
{
	struct rb_node *node = root->rb_node;

	while (node && node->rb_right)
		node = node->rb_right;
	return node;
}

static inline struct rb_node *rb_next(const struct rb_node *node)
{
	struct rb_node *next = node->rb_right;

	if (next) {
		while (next->rb_left)
			next = next->rb_left;
		return next;
	}
	while (node->shim_parent && node->shim_parent->rb_right == node)
		node = node->shim_parent;
	return node->shim_parent;
}

static inline struct rb_node *rb_prev(const struct rb_node *node)
{
	struct rb_node *prev = node->rb_left;

	if (prev) {
		while (prev->rb_right)
			prev = prev->rb_right;
		return prev;
	}
	while (node->shim_parent && node->shim_parent->rb_left == node)
		node = node->shim_parent;
	return node->shim_parent;
}

static inline void rb_replace_node(struct rb_node *old, struct rb_node *new,
				   struct rb_root *root)
{
	struct rb_node **link = shim_rb_link(old, root);

	*new = *old;
	*link = new;
	if (new->rb_left)
		new->rb_left->shim_parent = new;
	if (new->rb_right)
		new->rb_right->shim_parent = new;
}

#endif /* SHIM_RBTREE_H */
