package action

import (
	"encoding/binary"
	"net/netip"
)

// addressClass is the kind of network an address belongs to. The zero value is the
// public internet.
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
	classMetadata:    "a cloud metadata address",
	classLinkLocal:   "an address of the local link",
	classUnspecified: "the unspecified address",
	classMulticast:   "a multicast address",
	classReserved:    "reserved for special purposes",
}

// block is a range of addresses that is not the public internet.
type block struct {
	prefix netip.Prefix
	class  addressClass
}

// blocks are the special-purpose registries of IANA, without those that are
// publicly reachable, and the addresses from which clouds serve credentials. The
// first block that contains an address counts.
var blocks = []block{
	{netip.MustParsePrefix("169.254.169.254/32"), classMetadata}, // most clouds
	{netip.MustParsePrefix("169.254.170.0/24"), classMetadata},   // containers at Amazon
	{netip.MustParsePrefix("168.63.129.16/32"), classMetadata},   // Azure; outside of the special ranges
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

	{netip.MustParsePrefix("0.0.0.0/8"), classUnspecified}, // which a kernel may route to this machine
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

	{netip.MustParsePrefix("::/96"), classReserved},          // IPv4-compatible, deprecated
	{netip.MustParsePrefix("64:ff9b:1::/48"), classReserved}, // translation inside of one network
	{netip.MustParsePrefix("100::/64"), classReserved},       // discard
	{netip.MustParsePrefix("100:0:0:1::/64"), classReserved}, // dummies
	{netip.MustParsePrefix("2001::/23"), classReserved},      // protocol assignments, Teredo among them
	{netip.MustParsePrefix("2001:db8::/32"), classReserved},  // documentation
	{netip.MustParsePrefix("3fff::/20"), classReserved},      // documentation
	{netip.MustParsePrefix("5f00::/16"), classReserved},      // segment routing
}

// allocatedIPv6 is the part of IPv6 that is allocated for the public internet. The
// rest can only be used inside a network.
var allocatedIPv6 = netip.MustParsePrefix("2000::/3")

// classOf is the class of an address. An address that embeds an IPv4 address has the
// class of that one.
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

// embeddingPrefixes are the IPv6 prefixes that embed an IPv4 address, and its position.
// A router or translator connects to the embedded address.
var embeddingPrefixes = []struct {
	prefix netip.Prefix
	at     int // byte at which the IPv4 address begins
}{
	{netip.MustParsePrefix("::ffff:0:0:0/96"), 12}, // stateless translation
	{netip.MustParsePrefix("64:ff9b::/96"), 12},    // NAT64
	{netip.MustParsePrefix("2002::/16"), 2},        // 6to4
}

// isatap is the value before the IPv4 address in the lower half of an address
// of an ISATAP tunnel, but for the bit that says whether that one is unique.
const isatap = 0x00005efe

// embeddedIPv4 is the IPv4 address embedded in an IPv6 one, if there is one.
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

// normalAddr converts an IPv4-mapped address to IPv4 and removes the zone.
func normalAddr(addr netip.Addr) netip.Addr { return addr.Unmap().WithZone("") }
