package action

import (
	"encoding/binary"
	"net/netip"
)

// addressClass says what kind of network an address belongs to. The zero value is the
// open internet.
type addressClass int

const (
	classPublic addressClass = iota
	classLoopback
	classPrivate
	classMetadata
	classLinkLocal
	classUnspecified
	classMulticast
	classReserved
)

var classWords = map[addressClass]string{
	classLoopback:    "an address of this machine itself",
	classPrivate:     "an address of a private network",
	classMetadata:    "where clouds keep the credentials of their machines",
	classLinkLocal:   "an address of the local link",
	classUnspecified: "no address of anybody",
	classMulticast:   "an address of many at once",
	classReserved:    "reserved for special purposes",
}

// block is some addresses that are not the open internet.
type block struct {
	prefix netip.Prefix
	class  addressClass
}

// blocks are the special-purpose registries of IANA, as far as they are not
// reachable from everywhere, and what clouds serve credentials from. Of several
// that hold an address the first counts.
var blocks = []block{
	{netip.MustParsePrefix("169.254.169.254/32"), classMetadata}, // most clouds
	{netip.MustParsePrefix("169.254.170.0/24"), classMetadata},   // containers at Amazon
	{netip.MustParsePrefix("168.63.129.16/32"), classMetadata},   // Azure; it looks like any other
	{netip.MustParsePrefix("100.100.100.200/32"), classMetadata}, // Alibaba
	{netip.MustParsePrefix("192.0.0.192/32"), classMetadata},     // Oracle
	{netip.MustParsePrefix("fd00:ec2::/32"), classMetadata},      // Amazon
	{netip.MustParsePrefix("fd20:ce::254/128"), classMetadata},   // Google

	{netip.MustParsePrefix("127.0.0.0/8"), classLoopback},
	{netip.MustParsePrefix("::1/128"), classLoopback},

	{netip.MustParsePrefix("10.0.0.0/8"), classPrivate},
	{netip.MustParsePrefix("172.16.0.0/12"), classPrivate},
	{netip.MustParsePrefix("192.168.0.0/16"), classPrivate},
	{netip.MustParsePrefix("100.64.0.0/10"), classPrivate}, // shared by the customers of a provider
	{netip.MustParsePrefix("fc00::/7"), classPrivate},
	{netip.MustParsePrefix("fec0::/10"), classPrivate}, // site-local, which fc00::/7 replaced

	{netip.MustParsePrefix("169.254.0.0/16"), classLinkLocal},
	{netip.MustParsePrefix("fe80::/10"), classLinkLocal},

	{netip.MustParsePrefix("0.0.0.0/8"), classUnspecified}, // which a kernel may take for this machine
	{netip.MustParsePrefix("::/128"), classUnspecified},

	{netip.MustParsePrefix("224.0.0.0/4"), classMulticast},
	{netip.MustParsePrefix("ff00::/8"), classMulticast},

	{netip.MustParsePrefix("192.0.0.0/24"), classReserved},    // protocol assignments
	{netip.MustParsePrefix("192.0.2.0/24"), classReserved},    // documentation
	{netip.MustParsePrefix("192.88.99.0/24"), classReserved},  // relays of 6to4
	{netip.MustParsePrefix("198.18.0.0/15"), classReserved},   // benchmarks
	{netip.MustParsePrefix("198.51.100.0/24"), classReserved}, // documentation
	{netip.MustParsePrefix("203.0.113.0/24"), classReserved},  // documentation
	{netip.MustParsePrefix("240.0.0.0/4"), classReserved},     // future use, and broadcast

	{netip.MustParsePrefix("::/96"), classReserved},          // IPv4-compatible, which nobody uses any more
	{netip.MustParsePrefix("64:ff9b:1::/48"), classReserved}, // translation inside of one network
	{netip.MustParsePrefix("100::/64"), classReserved},       // discard
	{netip.MustParsePrefix("100:0:0:1::/64"), classReserved}, // dummies
	{netip.MustParsePrefix("2001::/23"), classReserved},      // protocol assignments, Teredo among them
	{netip.MustParsePrefix("2001:db8::/32"), classReserved},  // documentation
	{netip.MustParsePrefix("3fff::/20"), classReserved},      // documentation
	{netip.MustParsePrefix("5f00::/16"), classReserved},      // segment routing
}

// allocatedIPv6 is what has been given out of IPv6. Whoever uses the rest uses it among
// themselves.
var allocatedIPv6 = netip.MustParsePrefix("2000::/3")

// classOf says where an address leads. One that stands for another leads where
// that one does.
func classOf(addr netip.Addr) addressClass {
	for _, b := range blocks {
		if b.prefix.Contains(addr) {
			return b.class
		}
	}
	if v4, does := embeddedIPv4(addr); does {
		return classOf(v4)
	}
	if addr.Is6() && !allocatedIPv6.Contains(addr) {
		return classReserved
	}
	return classPublic
}

// embeddingPrefixes are the IPv6 addresses that stand for an IPv4 one, and where that is
// written in them. Whoever routes or translates them connects to that.
var embeddingPrefixes = []struct {
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

// embeddedIPv4 is the IPv4 address that an IPv6 one stands for, if it does.
func embeddedIPv4(addr netip.Addr) (v4 netip.Addr, does bool) {
	if !addr.Is6() || addr.Is4In6() {
		return netip.Addr{}, false
	}
	b := addr.As16()
	for _, c := range embeddingPrefixes {
		if c.prefix.Contains(addr) {
			return netip.AddrFrom4([4]byte(b[c.at : c.at+4])), true
		}
	}
	if binary.BigEndian.Uint32(b[8:12])&^0x02000000 == isatap {
		return netip.AddrFrom4([4]byte(b[12:16])), true
	}
	return netip.Addr{}, false
}

// normalAddr is an address as it is looked at: IPv4 as such, and without a zone.
func normalAddr(addr netip.Addr) netip.Addr { return addr.Unmap().WithZone("") }
