// SPDX-License-Identifier: GPL-2.0-only
/*
 * For tests: lets a program in user space be the driver of a virtual SSD, so that it can
 * put any bytes into queues, ring any doorbell and point PRPs anywhere. It binds only to
 * a function whose driver_override names it.
 *
 * /dev/nvmev-rawhost is read and written at these offsets:
 *   0         registers and doorbells, in pieces of 4 or 8 bytes
 *   0x10000   bus address of the memory, 8 bytes, read only
 *   0x100000  memory that the device can reach, 2 MiB, contiguous
 */
#include <linux/dma-mapping.h>
#include <linux/fs.h>
#include <linux/io.h>
#include <linux/io-64-nonatomic-lo-hi.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/uaccess.h>

#define ADDRESS_AT	0x10000
#define MEMORY_AT	0x100000
#define MEMORY_BYTES	0x200000

/**
 * struct rawhost - the one function that is bound
 * @pdev: the function
 * @bar: its registers
 * @bar_bytes: their size
 * @memory: what the device may be pointed at
 * @address: its bus address
 */
struct rawhost {
	struct pci_dev *pdev;
	void __iomem *bar;
	loff_t bar_bytes;
	void *memory;
	dma_addr_t address;
};

static struct rawhost *bound;
static DEFINE_MUTEX(bound_lock);

static ssize_t read_register(struct rawhost *host, char __user *to, size_t bytes, loff_t at)
{
	u64 value;

	if (bytes == sizeof(u32))
		value = readl(host->bar + at);
	else
		value = readq(host->bar + at);
	return copy_to_user(to, &value, bytes) ? -EFAULT : bytes;
}

static ssize_t write_register(struct rawhost *host, const char __user *from, size_t bytes,
			      loff_t at)
{
	u64 value = 0;

	if (copy_from_user(&value, from, bytes))
		return -EFAULT;
	if (bytes == sizeof(u32))
		writel(value, host->bar + at);
	else
		writeq(value, host->bar + at);
	return bytes;
}

static bool is_register(const struct rawhost *host, size_t bytes, loff_t at)
{
	return (bytes == sizeof(u32) || bytes == sizeof(u64)) && !(at & 3) &&
	       at + bytes <= host->bar_bytes;
}

static bool is_memory(size_t bytes, loff_t at)
{
	return at >= MEMORY_AT && bytes <= MEMORY_BYTES &&
	       at - MEMORY_AT <= MEMORY_BYTES - bytes;
}

static ssize_t rawhost_read(struct file *file, char __user *to, size_t bytes, loff_t *at)
{
	guard(mutex)(&bound_lock);
	if (!bound)
		return -ENODEV;
	if (*at == ADDRESS_AT && bytes == sizeof(bound->address))
		return copy_to_user(to, &bound->address, bytes) ? -EFAULT : bytes;
	if (is_register(bound, bytes, *at))
		return read_register(bound, to, bytes, *at);
	if (!is_memory(bytes, *at))
		return -EINVAL;
	return copy_to_user(to, bound->memory + *at - MEMORY_AT, bytes) ? -EFAULT : bytes;
}

static ssize_t rawhost_write(struct file *file, const char __user *from, size_t bytes, loff_t *at)
{
	guard(mutex)(&bound_lock);
	if (!bound)
		return -ENODEV;
	if (is_register(bound, bytes, *at))
		return write_register(bound, from, bytes, *at);
	if (!is_memory(bytes, *at))
		return -EINVAL;
	return copy_from_user(bound->memory + *at - MEMORY_AT, from, bytes) ? -EFAULT : bytes;
}

static const struct file_operations rawhost_fops = {
	.owner = THIS_MODULE,
	.read = rawhost_read,
	.write = rawhost_write,
	.llseek = default_llseek,
};

static struct miscdevice rawhost_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "nvmev-rawhost",
	.fops = &rawhost_fops,
};

static int start(struct rawhost *host)
{
	int ret = pci_enable_device_mem(host->pdev);

	if (ret)
		return ret;
	pci_set_master(host->pdev);
	ret = dma_set_mask_and_coherent(&host->pdev->dev, DMA_BIT_MASK(64));
	if (ret)
		goto err_disable;
	host->bar_bytes = pci_resource_len(host->pdev, 0);
	host->bar = ioremap(pci_resource_start(host->pdev, 0), host->bar_bytes);
	host->memory = dma_alloc_coherent(&host->pdev->dev, MEMORY_BYTES, &host->address,
					  GFP_KERNEL);
	if (!host->bar || !host->memory) {
		ret = -ENOMEM;
		goto err_unmap;
	}
	return 0;

err_unmap:
	if (host->memory)
		dma_free_coherent(&host->pdev->dev, MEMORY_BYTES, host->memory, host->address);
	iounmap(host->bar);
err_disable:
	pci_disable_device(host->pdev);
	return ret;
}

static void stop(struct rawhost *host)
{
	/* Without bus mastering the device cannot reach the memory any more. */
	pci_clear_master(host->pdev);
	dma_free_coherent(&host->pdev->dev, MEMORY_BYTES, host->memory, host->address);
	iounmap(host->bar);
	pci_disable_device(host->pdev);
}

static int rawhost_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct rawhost *host;
	int ret;

	guard(mutex)(&bound_lock);
	if (bound)
		return -EBUSY;
	host = devm_kzalloc(&pdev->dev, sizeof(*host), GFP_KERNEL);
	if (!host)
		return -ENOMEM;
	host->pdev = pdev;
	ret = start(host);
	if (!ret)
		bound = host;
	return ret;
}

static void rawhost_remove(struct pci_dev *pdev)
{
	guard(mutex)(&bound_lock);
	stop(bound);
	bound = NULL;
}

static struct pci_driver rawhost_driver = {
	.name = "nvmev-rawhost",
	.probe = rawhost_probe,
	.remove = rawhost_remove,
};

static int __init rawhost_init(void)
{
	int ret = misc_register(&rawhost_device);

	if (ret)
		return ret;
	ret = pci_register_driver(&rawhost_driver);
	if (ret)
		misc_deregister(&rawhost_device);
	return ret;
}

static void __exit rawhost_exit(void)
{
	pci_unregister_driver(&rawhost_driver);
	misc_deregister(&rawhost_device);
}

module_init(rawhost_init);
module_exit(rawhost_exit);
MODULE_DESCRIPTION("Lets a test program drive a virtual SSD");
MODULE_LICENSE("GPL");
