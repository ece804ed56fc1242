# SPDX-License-Identifier: GPL-2.0-only
"""What others have published of the drives that profiles are made after.

A figure whose source is not at hand is not here.
"""

from __future__ import annotations

from typing import NamedTuple

# Short name: what it is
SOURCES: dict[str, str] = {
    "FAST'24": "Jun et al., *We Ain't Afraid of No File Fragmentation*, FAST 2024: section 3.1 and "
    "Fig. 7, section 3.2 and Fig. 8, section 5.1 and Fig. 11. Machine with PCIe 3.0 x4 and SATA 3",
    "980 PRO": "Samsung's figures for the 980 PRO behind PCIe 3.0, by "
    "[htxt](https://htxt.co.za/2020/09/samsungs-new-ssd-hits-read-write-speeds-of-5000-and-7000mb-s/)",
    "980 PRO, PCIe 4.0": "Samsung's figures for the 980 PRO behind PCIe 4.0, by "
    "[Legit Reviews](https://legitreviews.com/"
    "samsung-ssd-980-pro-review-1tb-500gb-capacities-benchmarked_222142)",
    "SN850": "Western Digital's figures for the WD_BLACK SN850 1 TB behind PCIe 4.0, by "
    "[KitGuru](https://www.kitguru.net/components/ssd-drives/simon-crisp/"
    "wd-black-sn850-1tb-ssd-review/)",
    "P41": "SK hynix's figures for the Platinum P41 behind PCIe 4.0, by "
    "[Blocks and Files](https://blocksandfiles.com/2022/05/19/fastest-pcie-4-ssd-sk-hynix/)",
    "870 EVO": "Samsung's figures for the 870 EVO, by "
    "[KitGuru](https://www.kitguru.net/components/ssd-drives/simon-crisp/samsung-ssd-870-evo-1tb-review/all/1/)",
    "MX500": "Crucial's figures for the MX500 250 GB, by "
    "[pgrid](https://www.pgrid.app/au/ssds/crucial-mx500-250gb); 90,000 random writes a second: its "
    "data sheet",
    "P5 Plus": "Crucial's figures for the P5 Plus 1 TB, 176-layer TLC behind PCIe 4.0, by "
    "[allinfo](https://allinfo.space/2021/08/04/crucial-p5-plus-in-the-test-with-pcie-4-0-debut-"
    "the-connection-to-the-top-of-the-ssd-succeeds/)",
    "Samsung's phones": "Samsung's figures for eMMC 5.0 and for UFS 2.0 of 128 GB, by "
    "[Liliputing](https://liliputing.com/2020/03/"
    "samsungs-ufs-3-1-storage-brings-ssd-speeds-to-smartphones.html)",
    "SanDisk Extreme": "SanDisk's figures for microSD cards Extreme A2 (at least 4,000 and 2,000 random "
    "reads and writes a second), by [AnandTech](https://www2.anandtech.com/show/13441/"
    "sandisk-unveils-extreme-microsd-cards-with-a2-spec)",
    "970 EVO": "Samsung's figures for the 970 EVO 1 TB, by "
    "[Benchmark Reviews](https://techplayboy.com/53747/samsung-ssd-970-evo-review/) and "
    "[HotHardware](https://hothardware.com/reviews/samsung-ssd-970-evo-and-pro-review?page=1); one "
    "at a time, by [Techgage](https://techgage.com/news/"
    "samsung-reveals-the-970-pro-970-evo-generation-m-2-ssds/)",
    "P4800X": "Intel's Optane SSD DC P4800X 375 GB: one read at a time by [AnandTech](http://www.anandtech.com/show/11209/intel-optane-ssd-dc-p4800x-review-a-deep-dive-into-"
    "3d-xpoint-enterprise-performance/4); 550,000 and 500,000 random reads and writes a second: Intel's "
    "figures, by [Gamers Nexus](http://gamersnexus.net/news-pc/2845-intel-optane-dc-p4800x-ssd); 2400 and "
    "2000 MB/s: Intel's, by [GamesVillage]"
    "(https://www.gamesvillage.it/6793897/primi-dettagli-sugli-ssd-intel-optane-dc-p4800x/)",
    "RC100": "Toshiba's figures for the RC100 120 GB, by "
    "[Geektopia](https://www.geektopia.es/es/technology/2018/06/12/noticias/"
    "toshiba-presenta-la-serie-rc100-de-ssd-en-formato-m-2-2242-y-tipo-pcie.html)",
}

SEQUENTIAL_READ = "fresh sequential read"
SEQUENTIAL_WRITE = "fresh sequential write"
RANDOM_READ = "fresh random read"
RANDOM_WRITE = "fresh random write"
EACH_PAGE = "fresh page after page read"
EACH_STRIPE = "fresh page of each stripe read"
# Sequential and random speeds, as opposed to what shows how a drive is made
SPEEDS = (SEQUENTIAL_READ, SEQUENTIAL_WRITE, RANDOM_READ, RANDOM_WRITE, EACH_PAGE)
SPLIT = "a command more"
ONE_DIE = "units of one die"


class Published(NamedTuple):
    """A figure: of a profile, one of ours, at a depth, in a unit, from a source."""

    profile: str
    figure: str
    depth: int
    value: float
    unit: str
    source: str


PUBLISHED = [
    Published("nvme-a", EACH_PAGE, 512, 2600, "MB/s", "FAST'24"),
    Published("nvme-a", EACH_STRIPE, 512, 166, "MB/s", "FAST'24"),
    Published("nvme-a", ONE_DIE, 32, 21, "%", "FAST'24"),
    Published("nvme-a", SPLIT, 1, 85, "us", "FAST'24"),
    Published("nvme-a", SEQUENTIAL_READ, 32, 3500, "MB/s", "980 PRO"),
    Published("nvme-a", SEQUENTIAL_WRITE, 32, 2700, "MB/s", "980 PRO"),
    Published("nvme-a", RANDOM_READ, 128, 1000.0, "k/s", "980 PRO, PCIe 4.0"),
    Published("nvme-a", RANDOM_WRITE, 128, 1000.0, "k/s", "980 PRO, PCIe 4.0"),
    Published("nvme-b", EACH_PAGE, 512, 3020, "MB/s", "FAST'24"),
    Published("nvme-b", EACH_STRIPE, 512, 480, "MB/s", "FAST'24"),
    Published("nvme-b", ONE_DIE, 32, 24, "%", "FAST'24"),
    Published("nvme-b", SPLIT, 1, 85, "us", "FAST'24"),
    Published("nvme-b", SEQUENTIAL_READ, 32, 7000, "MB/s", "SN850"),
    Published("nvme-b", SEQUENTIAL_WRITE, 32, 5300, "MB/s", "SN850"),
    Published("nvme-b", RANDOM_READ, 128, 1000.0, "k/s", "SN850"),
    Published("nvme-b", RANDOM_WRITE, 128, 720.0, "k/s", "SN850"),
    Published("nvme-c", SEQUENTIAL_READ, 32, 7000, "MB/s", "P41"),
    Published("nvme-c", SEQUENTIAL_WRITE, 32, 6500, "MB/s", "P41"),
    Published("nvme-c", RANDOM_READ, 128, 1400.0, "k/s", "P41"),
    Published("nvme-c", RANDOM_WRITE, 128, 1300.0, "k/s", "P41"),
    Published("nvme-d", SEQUENTIAL_READ, 32, 6600, "MB/s", "P5 Plus"),
    Published("nvme-d", SEQUENTIAL_WRITE, 32, 5000, "MB/s", "P5 Plus"),
    Published("nvme-d", RANDOM_READ, 128, 720.0, "k/s", "P5 Plus"),
    Published("nvme-d", RANDOM_WRITE, 128, 700.0, "k/s", "P5 Plus"),
    Published("sata-a", EACH_PAGE, 32, 400, "MB/s", "FAST'24"),
    Published("sata-a", EACH_STRIPE, 32, 62, "MB/s", "FAST'24"),
    Published("sata-a", SPLIT, 1, 136, "us", "FAST'24"),
    Published("sata-a", SEQUENTIAL_READ, 32, 560, "MB/s", "870 EVO"),
    Published("sata-a", SEQUENTIAL_WRITE, 32, 530, "MB/s", "870 EVO"),
    Published("sata-a", RANDOM_READ, 1, 13.0, "k/s", "870 EVO"),
    Published("sata-a", RANDOM_WRITE, 1, 36.0, "k/s", "870 EVO"),
    Published("sata-a", RANDOM_READ, 32, 98.0, "k/s", "870 EVO"),
    Published("sata-a", RANDOM_WRITE, 32, 88.0, "k/s", "870 EVO"),
    Published("sata-b", EACH_PAGE, 32, 400, "MB/s", "FAST'24"),
    Published("sata-b", EACH_STRIPE, 32, 82, "MB/s", "FAST'24"),
    Published("sata-b", SPLIT, 1, 136, "us", "FAST'24"),
    Published("sata", SEQUENTIAL_READ, 32, 560, "MB/s", "MX500"),
    Published("sata", SEQUENTIAL_WRITE, 32, 510, "MB/s", "MX500"),
    Published("sata", RANDOM_WRITE, 32, 90.0, "k/s", "MX500"),
    Published("tlc", SEQUENTIAL_READ, 32, 6600, "MB/s", "P5 Plus"),
    Published("tlc", SEQUENTIAL_WRITE, 32, 5000, "MB/s", "P5 Plus"),
    Published("tlc", RANDOM_READ, 128, 720.0, "k/s", "P5 Plus"),
    Published("tlc", RANDOM_WRITE, 128, 700.0, "k/s", "P5 Plus"),
    Published("dramless", SEQUENTIAL_READ, 32, 1350, "MB/s", "RC100"),
    Published("dramless", SEQUENTIAL_WRITE, 32, 700, "MB/s", "RC100"),
    Published("dramless", RANDOM_READ, 32, 80.0, "k/s", "RC100"),
    Published("dramless", RANDOM_WRITE, 32, 95.0, "k/s", "RC100"),
    Published("slc-cache", SEQUENTIAL_READ, 32, 3400, "MB/s", "970 EVO"),
    Published("slc-cache", SEQUENTIAL_WRITE, 32, 2500, "MB/s", "970 EVO"),
    Published("slc-cache", RANDOM_READ, 1, 15.0, "k/s", "970 EVO"),
    Published("slc-cache", RANDOM_WRITE, 1, 50.0, "k/s", "970 EVO"),
    Published("slc-cache", RANDOM_READ, 128, 500.0, "k/s", "970 EVO"),
    Published("slc-cache", RANDOM_WRITE, 128, 450.0, "k/s", "970 EVO"),
    Published("xpoint", SEQUENTIAL_READ, 32, 2400, "MB/s", "P4800X"),
    Published("xpoint", SEQUENTIAL_WRITE, 32, 2000, "MB/s", "P4800X"),
    Published("xpoint", RANDOM_READ, 1, 108.3, "k/s", "P4800X"),
    Published("xpoint", RANDOM_READ, 32, 550.0, "k/s", "P4800X"),
    Published("xpoint", RANDOM_WRITE, 32, 500.0, "k/s", "P4800X"),
    Published("emmc", SEQUENTIAL_READ, 1, 250, "MB/s", "Samsung's phones"),
    Published("emmc", SEQUENTIAL_WRITE, 1, 90, "MB/s", "Samsung's phones"),
    Published("emmc", RANDOM_READ, 1, 7.0, "k/s", "Samsung's phones"),
    Published("emmc", RANDOM_WRITE, 1, 13.0, "k/s", "Samsung's phones"),
    Published("ufs", SEQUENTIAL_READ, 32, 350, "MB/s", "Samsung's phones"),
    Published("ufs", SEQUENTIAL_WRITE, 32, 150, "MB/s", "Samsung's phones"),
    Published("ufs", RANDOM_READ, 32, 19.0, "k/s", "Samsung's phones"),
    Published("ufs", RANDOM_WRITE, 32, 14.0, "k/s", "Samsung's phones"),
    Published("microsd", SEQUENTIAL_READ, 32, 90, "MB/s", "SanDisk Extreme"),
    Published("microsd", SEQUENTIAL_WRITE, 32, 60, "MB/s", "SanDisk Extreme"),
    Published("microsd", RANDOM_READ, 32, 4.0, "k/s", "SanDisk Extreme"),
    Published("microsd", RANDOM_WRITE, 1, 2.0, "k/s", "SanDisk Extreme"),
]
