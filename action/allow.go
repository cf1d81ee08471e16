package action

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// Allow lists the addresses and hosts that requests may reach besides the public
// internet. The zero value is empty.
type Allow struct {
	any, private, loopback bool
	nets                   []netip.Prefix
	hosts                  []string // in lower case; with a leading dot: all names below it
}

// The words of an Allow.
const (
	allowNone     = "none"
	allowAny      = "any"
	allowPrivate  = "private"
	allowLoopback = "loopback"
)

// AllowMax bounds the entries of an Allow: each address is compared with all of them.
const AllowMax = 1_000

// ParseAllow reads a list, with commas or spaces between its entries. An entry is
// a network (10.1.0.0/16), an address, the name of a host (hooks.example.com), all
// names below one (*.example.com), or a word: loopback, private, or any. The
// word private does not include the metadata addresses of clouds. An empty list and
// the word none allow nothing.
//
// A host that is allowed by its name may have any address: the operator
// trusts the owner of the name.
func ParseAllow(text string) (Allow, error) {
	var a Allow
	entries := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\n' || r == '\r' })
	if len(entries) > AllowMax {
		return Allow{}, fmt.Errorf("there are %d entries; at most %d are allowed", len(entries), AllowMax)
	}
	if len(entries) == 1 && strings.EqualFold(entries[0], allowNone) {
		return a, nil
	}
	for _, entry := range entries {
		if err := a.add(entry); err != nil {
			return Allow{}, err
		}
	}
	return a, nil
}

func (a *Allow) add(entry string) error {
	switch word := strings.ToLower(entry); word {
	case allowAny:
		a.any = true
	case allowPrivate:
		a.private = true
	case allowLoopback:
		a.loopback = true
	case allowNone:
		return fmt.Errorf("none is combined with other entries; remove none, or the others")
	default:
		return a.addNetworkOrHost(word, entry)
	}
	return nil
}

// addNetworkOrHost adds a network, an address or a host.
func (a *Allow) addNetworkOrHost(word, entry string) error {
	if prefix, err := parsePrefix(word); err == nil {
		switch {
		case prefix.Addr().Is4In6():
			return fmt.Errorf("%s is an IPv4-mapped IPv6 network; write it as IPv4", quoteShort(entry))
		case prefix != prefix.Masked():
			return fmt.Errorf("%s has more digits than its length covers; write %s", quoteShort(entry), prefix.Masked())
		}
		a.nets = append(a.nets, prefix)
		return nil
	}
	name := strings.TrimSuffix(word, ".")
	suffix, many := strings.CutPrefix(name, "*.")
	if err := checkHost(suffix); err != nil {
		return fmt.Errorf("%s %w", quoteShort(entry), err)
	}
	if many {
		name = "." + suffix
	}
	a.hosts = append(a.hosts, name)
	return nil
}

// parsePrefix reads a network, or an address as a network of one.
func parsePrefix(text string) (netip.Prefix, error) {
	if addr, err := netip.ParseAddr(strings.Trim(text, "[]")); err == nil && addr.Zone() == "" {
		return addr.Prefix(addr.BitLen())
	}
	return netip.ParsePrefix(text)
}

const hostMax = 253 // the longest name that DNS has

// checkHost refuses an invalid host name and suggests the intended form.
func checkHost(name string) error {
	switch {
	case strings.Contains(name, "://"):
		return fmt.Errorf("is a URL; write its host alone")
	case strings.Contains(name, "/"):
		return fmt.Errorf("is not a network; write one such as 10.1.0.0/16")
	case strings.Contains(name, ":"):
		return fmt.Errorf("has a port; a host is allowed with all its ports")
	case name == "*":
		return fmt.Errorf("is not an entry; to allow everything, write any")
	case name == "" || len(name) > hostMax || !isHost(name):
		return fmt.Errorf("is neither a network, nor the name of a host, nor loopback, private or any")
	case isNumber(lastLabel(name)):
		return fmt.Errorf("is not an address; write four numbers with dots between them")
	}
	return nil
}

func isHost(name string) bool {
	for label := range strings.SplitSeq(name, ".") {
		ascii := func(r rune) bool {
			return r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z'
		}
		if label == "" || len(label) > 63 || strings.ContainsFunc(label, func(r rune) bool { return !ascii(r) }) {
			return false
		}
	}
	return true
}

func lastLabel(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// isNumber reports whether some systems read a label as a number, in which case
// they read the whole name as an address: 0x7f.1 is 127.0.0.1 to them.
func isNumber(label string) bool {
	digits, hex := strings.CutPrefix(strings.ToLower(label), "0x")
	if hex {
		return strings.Trim(digits, "0123456789abcdef") == ""
	}
	return label != "" && strings.Trim(label, "0123456789") == ""
}

// String formats the list so that ParseAllow can parse it.
func (a Allow) String() string {
	var entries []string
	for _, word := range []struct {
		set  bool
		text string
	}{{a.any, allowAny}, {a.private, allowPrivate}, {a.loopback, allowLoopback}} {
		if word.set {
			entries = append(entries, word.text)
		}
	}
	for _, n := range a.nets {
		if n.IsSingleIP() {
			entries = append(entries, n.Addr().String())
		} else {
			entries = append(entries, n.String())
		}
	}
	for _, host := range a.hosts {
		if host[0] == '.' {
			host = "*" + host
		}
		entries = append(entries, host)
	}
	if len(entries) == 0 {
		return allowNone
	}
	return strings.Join(entries, ", ")
}

// host reports whether a host is allowed by its name, which is in lower case.
func (a *Allow) host(name string) bool {
	return a.any || slices.ContainsFunc(a.hosts, func(h string) bool {
		return h == name || h[0] == '.' && strings.HasSuffix(name, h)
	})
}

// addr reports whether an address may be reached, and its class.
func (a *Allow) addr(addr netip.Addr) (may bool, is addressClass) {
	addr = normalAddr(addr)
	is = classOf(addr)
	switch {
	case a.any, is == classPublic, is == classPrivate && a.private, is == classLoopback && a.loopback, a.net(addr):
		return true, is
	}
	v4, does := embeddedIPv4(addr)
	return does && a.net(v4), is
}

func (a *Allow) net(addr netip.Addr) bool {
	return slices.ContainsFunc(a.nets, func(n netip.Prefix) bool { return n.Contains(addr) })
}

// quoteShort quotes a text and shortens it.
func quoteShort(text string) string {
	const most = 64
	if len(text) > most {
		return fmt.Sprintf("%q…", text[:most])
	}
	return fmt.Sprintf("%q", text)
}
