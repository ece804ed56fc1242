/* SPDX-License-Identifier: GPL-2.0-only */
/* Doubly linked lists with the kernel's interface: circular (list) and headed (hlist). */
#ifndef SHIM_LIST_H
#define SHIM_LIST_H

struct list_head {
	struct list_head *next, *prev;
};

#define LIST_HEAD_INIT(name)	{ &(name), &(name) }
#define LIST_HEAD(name)		struct list_head name = LIST_HEAD_INIT(name)

static inline void INIT_LIST_HEAD(struct list_head *list)
{
	list->next = list;
	list->prev = list;
}

static inline void shim_list_join(struct list_head *a, struct list_head *b)
{
	a->next = b;
	b->prev = a;
}

static inline bool list_empty(const struct list_head *head) { return head->next == head; }

static inline void list_add(struct list_head *new, struct list_head *head)
{
	shim_list_join(new, head->next);
	shim_list_join(head, new);
}

static inline void list_add_tail(struct list_head *new, struct list_head *head)
{
	shim_list_join(head->prev, new);
	shim_list_join(new, head);
}

/* The links of a removed entry are poisoned as in the kernel, so that misuse crashes. */
static inline void list_del(struct list_head *entry)
{
	shim_list_join(entry->prev, entry->next);
	entry->next = (struct list_head *)0x100;
	entry->prev = (struct list_head *)0x122;
}

static inline void list_del_init(struct list_head *entry)
{
	shim_list_join(entry->prev, entry->next);
	INIT_LIST_HEAD(entry);
}

static inline void list_move(struct list_head *entry, struct list_head *head)
{
	shim_list_join(entry->prev, entry->next);
	list_add(entry, head);
}

static inline void list_move_tail(struct list_head *entry, struct list_head *head)
{
	shim_list_join(entry->prev, entry->next);
	list_add_tail(entry, head);
}

static inline void list_replace(struct list_head *old, struct list_head *new)
{
	shim_list_join(new, old->next);
	shim_list_join(old->prev, new);
}

static inline void list_splice_init(struct list_head *list, struct list_head *head)
{
	struct list_head *first = list->next, *last = list->prev, *next = head->next;

	if (list_empty(list))
		return;
	shim_list_join(head, first);
	shim_list_join(last, next);
	INIT_LIST_HEAD(list);
}

static inline void list_splice_tail_init(struct list_head *list, struct list_head *head)
{
	list_splice_init(list, head->prev);
}

static inline bool list_is_first(const struct list_head *entry, const struct list_head *head)
{
	return entry->prev == head;
}

static inline bool list_is_last(const struct list_head *entry, const struct list_head *head)
{
	return entry->next == head;
}

static inline bool list_is_singular(const struct list_head *head)
{
	return !list_empty(head) && head->next == head->prev;
}

#define list_entry(ptr, type, member)	container_of(ptr, type, member)
#define list_first_entry(head, type, member) list_entry((head)->next, type, member)
#define list_last_entry(head, type, member) list_entry((head)->prev, type, member)
#define list_first_entry_or_null(head, type, member) \
	(list_empty(head) ? NULL : list_first_entry(head, type, member))
#define list_next_entry(pos, member) \
	list_entry((pos)->member.next, __typeof__(*(pos)), member)
#define list_prev_entry(pos, member) \
	list_entry((pos)->member.prev, __typeof__(*(pos)), member)
#define list_entry_is_head(pos, head, member) (&(pos)->member == (head))

#define list_for_each(pos, head) \
	for (pos = (head)->next; pos != (head); pos = pos->next)
#define list_for_each_entry(pos, head, member)				\
	for (pos = list_first_entry(head, __typeof__(*pos), member);	\
	     !list_entry_is_head(pos, head, member);			\
	     pos = list_next_entry(pos, member))
#define list_for_each_entry_reverse(pos, head, member)			\
	for (pos = list_last_entry(head, __typeof__(*pos), member);	\
	     !list_entry_is_head(pos, head, member);			\
	     pos = list_prev_entry(pos, member))
#define list_for_each_entry_safe(pos, n, head, member)			\
	for (pos = list_first_entry(head, __typeof__(*pos), member),	\
	     n = list_next_entry(pos, member);				\
	     !list_entry_is_head(pos, head, member);			\
	     pos = n, n = list_next_entry(n, member))

struct hlist_node {
	struct hlist_node *next, **pprev;
};

struct hlist_head {
	struct hlist_node *first;
};

#define HLIST_HEAD_INIT		{ .first = NULL }
#define INIT_HLIST_HEAD(head)	((head)->first = NULL)

static inline void INIT_HLIST_NODE(struct hlist_node *node)
{
	node->next = NULL;
	node->pprev = NULL;
}

static inline bool hlist_unhashed(const struct hlist_node *node) { return !node->pprev; }
static inline bool hlist_empty(const struct hlist_head *head) { return !head->first; }

static inline void hlist_add_head(struct hlist_node *node, struct hlist_head *head)
{
	node->next = head->first;
	node->pprev = &head->first;
	if (head->first)
		head->first->pprev = &node->next;
	head->first = node;
}

static inline void hlist_del_init(struct hlist_node *node)
{
	if (hlist_unhashed(node))
		return;
	*node->pprev = node->next;
	if (node->next)
		node->next->pprev = node->pprev;
	INIT_HLIST_NODE(node);
}

static inline void hlist_del(struct hlist_node *node)
{
	hlist_del_init(node);
	node->next = (struct hlist_node *)0x100;
	node->pprev = (struct hlist_node **)0x122;
}

#define hlist_entry(ptr, type, member)	container_of(ptr, type, member)
#define hlist_entry_safe(ptr, type, member) ({			\
	struct hlist_node *shim_node = (ptr);			\
	shim_node ? hlist_entry(shim_node, type, member) : NULL; })
#define hlist_for_each_entry(pos, head, member)					\
	for (pos = hlist_entry_safe((head)->first, __typeof__(*pos), member);	\
	     pos;								\
	     pos = hlist_entry_safe((pos)->member.next, __typeof__(*pos), member))
#define hlist_for_each_entry_safe(pos, n, head, member)				\
	for (pos = hlist_entry_safe((head)->first, __typeof__(*pos), member);	\
	     pos && ({ n = pos->member.next; 1; });				\
	     pos = hlist_entry_safe(n, __typeof__(*pos), member))

#endif /* SHIM_LIST_H */
