package action

import (
	"encoding/binary"
	"net/netip"
)

// reach says what kind of network an address belongs to. The zero value is the
// open internet.
type reach int

const (
	reachPublic reach = iota
	reachLoopback
	reachPrivate
	reachMetadata
	reachLinkLocal
	reachUnspecified
	reachMulticast
	reachReserved
)

var reachWords = map[reach]string{
	reachLoopback:    "an address of this machine itself",
	reachPrivate:     "an address of a private network",
	reachMetadata:    "where clouds keep the credentials of their machines",
	reachLinkLocal:   "an address of the local link",
	reachUnspecified: "no address of anybody",
	reachMulticast:   "an address of many at once",
	reachReserved:    "reserved for special purposes",
}

// block is some addresses that are not the open internet.
type block struct {
	prefix netip.Prefix
	reach  reach
}

// blocks are the special-purpose registries of IANA, as far as they are not
// reachable from everywhere, and what clouds serve credentials from. Of several
// that hold an address the first counts.
var blocks = []block{
	{netip.MustParsePrefix("169.254.169.254/32"), reachMetadata}, // most clouds
	{netip.MustParsePrefix("169.254.170.0/24"), reachMetadata},   // containers at Amazon
	{netip.MustParsePrefix("168.63.129.16/32"), reachMetadata},   // Azure; it looks like any other
	{netip.MustParsePrefix("100.100.100.200/32"), reachMetadata}, // Alibaba
	{netip.MustParsePrefix("192.0.0.192/32"), reachMetadata},     // Oracle
	{netip.MustParsePrefix("fd00:ec2::/32"), reachMetadata},      // Amazon
	{netip.MustParsePrefix("fd20:ce::254/128"), reachMetadata},   // Google

	{netip.MustParsePrefix("127.0.0.0/8"), reachLoopback},
	{netip.MustParsePrefix("::1/128"), reachLoopback},

	{netip.MustParsePrefix("10.0.0.0/8"), reachPrivate},
	{netip.MustParsePrefix("172.16.0.0/12"), reachPrivate},
	{netip.MustParsePrefix("192.168.0.0/16"), reachPrivate},
	{netip.MustParsePrefix("100.64.0.0/10"), reachPrivate}, // shared by the customers of a provider
	{netip.MustParsePrefix("fc00::/7"), reachPrivate},
	{netip.MustParsePrefix("fec0::/10"), reachPrivate}, // site-local, which fc00::/7 replaced

	{netip.MustParsePrefix("169.254.0.0/16"), reachLinkLocal},
	{netip.MustParsePrefix("fe80::/10"), reachLinkLocal},

	{netip.MustParsePrefix("0.0.0.0/8"), reachUnspecified}, // which a kernel may take for this machine
	{netip.MustParsePrefix("::/128"), reachUnspecified},

	{netip.MustParsePrefix("224.0.0.0/4"), reachMulticast},
	{netip.MustParsePrefix("ff00::/8"), reachMulticast},

	{netip.MustParsePrefix("192.0.0.0/24"), reachReserved},    // protocol assignments
	{netip.MustParsePrefix("192.0.2.0/24"), reachReserved},    // documentation
	{netip.MustParsePrefix("192.88.99.0/24"), reachReserved},  // relays of 6to4
	{netip.MustParsePrefix("198.18.0.0/15"), reachReserved},   // benchmarks
	{netip.MustParsePrefix("198.51.100.0/24"), reachReserved}, // documentation
	{netip.MustParsePrefix("203.0.113.0/24"), reachReserved},  // documentation
	{netip.MustParsePrefix("240.0.0.0/4"), reachReserved},     // future use, and broadcast

	{netip.MustParsePrefix("::/96"), reachReserved},          // IPv4-compatible, which nobody uses any more
	{netip.MustParsePrefix("64:ff9b:1::/48"), reachReserved}, // translation inside of one network
	{netip.MustParsePrefix("100::/64"), reachReserved},       // discard
	{netip.MustParsePrefix("100:0:0:1::/64"), reachReserved}, // dummies
	{netip.MustParsePrefix("2001::/23"), reachReserved},      // protocol assignments, Teredo among them
	{netip.MustParsePrefix("2001:db8::/32"), reachReserved},  // documentation
	{netip.MustParsePrefix("3fff::/20"), reachReserved},      // documentation
	{netip.MustParsePrefix("5f00::/16"), reachReserved},      // segment routing
}

// given is what has been given out of IPv6. Whoever uses the rest uses it among
// themselves.
var given = netip.MustParsePrefix("2000::/3")

// reachOf says where an address leads. One that stands for another leads where
// that one does.
func reachOf(addr netip.Addr) reach {
	for _, b := range blocks {
		if b.prefix.Contains(addr) {
			return b.reach
		}
	}
	if v4, does := carried(addr); does {
		return reachOf(v4)
	}
	if addr.Is6() && !given.Contains(addr) {
		return reachReserved
	}
	return reachPublic
}

// carriers are the IPv6 addresses that stand for an IPv4 one, and where that is
// written in them. Whoever routes or translates them connects to that.
var carriers = []struct {
	prefix netip.Prefix
	at     int // the byte that it begins at
}{
	{netip.MustParsePrefix("::ffff:0:0:0/96"), 12}, // translated without a state
	{netip.MustParsePrefix("64:ff9b::/96"), 12},    // NAT64
	{netip.MustParsePrefix("2002::/16"), 2},        // 6to4
}

// isatap is what stands before the IPv4 address in the lower half of an address
// of an ISATAP tunnel, but for the bit that says whether that one is unique.
const isatap = 0x00005efe

// carried is the IPv4 address that an IPv6 one stands for, if it does.
func carried(addr netip.Addr) (v4 netip.Addr, does bool) {
	if !addr.Is6() || addr.Is4In6() {
		return netip.Addr{}, false
	}
	b := addr.As16()
	for _, c := range carriers {
		if c.prefix.Contains(addr) {
			return netip.AddrFrom4([4]byte(b[c.at : c.at+4])), true
		}
	}
	if binary.BigEndian.Uint32(b[8:12])&^0x02000000 == isatap {
		return netip.AddrFrom4([4]byte(b[12:16])), true
	}
	return netip.Addr{}, false
}

// plainAddr is an address as it is looked at: IPv4 as such, and without a zone.
func plainAddr(addr netip.Addr) netip.Addr { return addr.Unmap().WithZone("") }
