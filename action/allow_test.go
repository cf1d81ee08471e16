package action

import (
	"net/netip"
	"strings"
	"testing"
)

// TestClassOfAddress checks the class of addresses at the edges of each network.
func TestClassOfAddress(t *testing.T) {
	for want, addrs := range map[addressClass]string{
		classPublic: `1.1.1.1 8.8.8.8 93.184.216.34 11.0.0.1 9.255.255.255 100.63.255.255 100.128.0.1 126.255.255.255 128.0.0.1
			169.253.255.255 169.255.0.1 172.15.255.255 172.32.0.1 191.255.255.255 192.0.1.1 192.167.255.255 192.169.0.1 198.17.255.255
			198.20.0.1 223.255.255.255 168.63.129.15 2606:4700::1111 2a00:1450:4001::1 2001:200::1 2001:4860:4860::8888 2400::1
			::ffff:8.8.8.8 64:ff9b::808:808 64:ff9b::8.8.8.8 2002:808:808::1 ::ffff:0:808:808 2606:4700::5efe:808:808`,
		classLoopback: `127.0.0.1 127.0.0.0 127.1.2.3 127.255.255.255 ::1 0:0:0:0:0:0:0:1 ::ffff:127.0.0.1 ::ffff:7f00:1
			64:ff9b::7f00:1 64:ff9b::127.0.0.1 2002:7f00:1:: 2002:7f00:0001:abcd::1 ::ffff:0:7f00:1 2606:4700::5efe:7f00:1 2606:4700::200:5efe:127.0.0.1`,
		classPrivate: `10.0.0.0 10.0.0.1 10.255.255.255 172.16.0.1 172.31.255.255 192.168.0.1 192.168.255.255 100.64.0.1 100.127.255.255
			fc00::1 fd00::1 fd12:3456:789a::1 fdff:ffff::1 fec0::1 ::ffff:10.1.2.3 ::ffff:192.168.1.1 64:ff9b::a00:1 64:ff9b::192.168.1.1
			2002:a00:1::1 2002:c0a8:101::1 2a00::5efe:10.0.0.1`,
		classMetadata: `169.254.169.254 ::ffff:169.254.169.254 ::ffff:a9fe:a9fe 64:ff9b::a9fe:a9fe 2002:a9fe:a9fe:: 169.254.170.2 100.100.100.200
			168.63.129.16 192.0.0.192 fd00:ec2::254 fd00:ec2::23 fd20:ce::254`,
		classLinkLocal:   `169.254.0.1 169.254.255.255 fe80::1 fe80::1%eth0 febf::1 ::ffff:169.254.1.1 64:ff9b::a9fe:101`,
		classUnspecified: `0.0.0.0 0.0.0.1 0.255.255.255 :: ::ffff:0.0.0.0 64:ff9b:: 2002::1`,
		classMulticast:   `224.0.0.1 239.255.255.255 ff02::1 ff0e::1 ::ffff:224.0.0.1`,
		classReserved: `192.0.0.1 192.0.2.1 192.88.99.1 198.18.0.1 198.19.255.255 198.51.100.7 203.0.113.7 240.0.0.1 255.255.255.255
			::127.0.0.1 ::10.0.0.1 ::2 64:ff9b:1::a00:1 100::1 100:0:0:1::1 2001::1 2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:db8::1 2001:1ff::1
			3fff::1 5f00::1 4000::1 1000::1 fe00::1 400::1 ::ffff:255.255.255.255`,
	} {
		for text := range strings.FieldsSeq(addrs) {
			if got := classOf(normalAddr(netip.MustParseAddr(text))); got != want {
				t.Errorf("%s has the class %q, want %q", text, classWords[got], classWords[want])
			}
		}
	}
}

// TestAllowListPermitsAndRefuses checks each list with addresses that it permits and
// addresses that it refuses.
func TestAllowListPermitsAndRefuses(t *testing.T) {
	for _, test := range []struct{ list, permitted, refused string }{
		{"", "1.1.1.1 2606:4700::1", "127.0.0.1 10.0.0.1 169.254.169.254 ::1 fd00::1 0.0.0.0 ::"},
		{"none", "1.1.1.1", "127.0.0.1 10.0.0.1"},
		{"loopback", "127.0.0.1 127.9.9.9 ::1 ::ffff:127.0.0.1", "10.0.0.1 0.0.0.0 :: 169.254.169.254"},
		{
			"private", "10.0.0.1 172.16.0.1 192.168.7.7 100.64.0.1 fd00::1 64:ff9b::a00:1 ::ffff:10.0.0.1",
			"127.0.0.1 ::1 169.254.0.1 169.254.169.254 fd00:ec2::254 fd20:ce::254 100.100.100.200 192.0.0.192 64:ff9b::a9fe:a9fe 224.0.0.1 0.0.0.0",
		},
		{"private,loopback", "10.0.0.1 127.0.0.1", "169.254.169.254 fe80::1"},
		{"any", "127.0.0.1 10.0.0.1 169.254.169.254 0.0.0.0 ff02::1 255.255.255.255 64:ff9b:1::1", ""},
		{"10.1.0.0/16", "10.1.2.3 ::ffff:10.1.2.3 64:ff9b::a01:203 2002:a01:203::1", "10.2.0.1 127.0.0.1 64:ff9b::a02:1"},
		{"10.1.2.3", "10.1.2.3", "10.1.2.4"},
		{"fd00:1::/32 , 169.254.169.254", "fd00:1::5 169.254.169.254", "fd00:2::5 169.254.169.253"},
		{"[::1]", "::1", "127.0.0.1"},
		{"64:ff9b:1::/48", "64:ff9b:1::a00:1", "10.0.0.1"},
		{"169.254.0.0/16", "169.254.169.254", "fe80::1%eth0"},
		{"fe80::/10", "fe80::1%eth0 fe80::1", "169.254.0.1"},
	} {
		a, err := ParseAllow(test.list)
		if err != nil {
			t.Fatalf("%q: %v", test.list, err)
		}
		reparsed, err := ParseAllow(a.String())
		if err != nil || reparsed.String() != a.String() {
			t.Errorf("%q is formatted as %q, which is parsed as %q, %v", test.list, a, reparsed, err)
		}
		for text := range strings.FieldsSeq(test.permitted) {
			if permitted, is := a.addr(netip.MustParseAddr(text)); !permitted {
				t.Errorf("%q refuses %s: %q", test.list, text, classWords[is])
			}
		}
		for text := range strings.FieldsSeq(test.refused) {
			if permitted, _ := a.addr(netip.MustParseAddr(text)); permitted {
				t.Errorf("%q permits %s", test.list, text)
			}
		}
	}
}

func TestAllowMatchesHosts(t *testing.T) {
	a, err := ParseAllow("Hooks.Example.com, *.svc.internal.\n localhost")
	if err != nil || a.String() != "hooks.example.com, *.svc.internal, localhost" {
		t.Fatal(a, err)
	}
	for name, want := range map[string]bool{
		"hooks.example.com": true, "example.com": false, "a.hooks.example.com": false, "xhooks.example.com": false,
		"a.svc.internal": true, "a.b.svc.internal": true, "svc.internal": false, "asvc.internal": false, "svc.internal.evil.com": false,
		"localhost": true, "a.localhost": false, "": false,
	} {
		if a.host(name) != want {
			t.Errorf("%q is allowed: %v", name, !want)
		}
	}
}

func TestParseAllowRefusesInvalidEntries(t *testing.T) {
	for text, want := range map[string]string{
		"http://10.0.0.1":            "is a URL; write its host alone",
		"https://example.com/a":      "is a URL",
		"10.0.0.0/33":                "is not a network",
		"10.0.0.0/":                  "is not a network",
		"10.1.2.3/8":                 "write 10.0.0.0/8",
		"::ffff:10.0.0.0/104":        "write it as IPv4",
		"::ffff:10.0.0.1":            "write it as IPv4",
		"example.com:80":             "has a port",
		"127.0.0.1:80":               "has a port",
		"[::1]:80":                   "has a port",
		"*":                          "write any",
		"*.":                         "write any",
		"a.*.com":                    "is neither",
		"a..b":                       "is neither",
		"größe.de":                   "is neither",
		"user@host":                  "is neither",
		"2130706433":                 "is not an address",
		"0x7f000001":                 "is not an address",
		"0177.0.0.1":                 "is not an address",
		"127.1":                      "is not an address",
		"10.0.0":                     "is not an address",
		"fe80::1%eth0":               "has a port",
		"none, private":              "none is combined with other entries",
		strings.Repeat("a", 64):      "is neither",
		strings.Repeat("a.", 128):    "is neither",
		strings.Repeat("a,", 1001):   "there are 1001 entries",
		strings.Repeat("x", 100_000): "is neither",
	} {
		a, err := ParseAllow(text)
		if err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 300 {
			t.Errorf("%.40q is %v, %v; want %q", text, a, err, want)
		}
		if a.String() != "none" {
			t.Errorf("%.40q is invalid and permits %v", text, a)
		}
	}
}

func FuzzParseAllow(f *testing.F) {
	for _, text := range []string{"private,10.0.0.0/8 *.a.b", "any", "0x7f.1", "[::1]", "fe80::1%x", "a/b/c"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := ParseAllow(text)
		if err != nil {
			return
		}
		reparsed, err := ParseAllow(a.String())
		if err != nil || reparsed.String() != a.String() {
			t.Errorf("%q is formatted as %q, which is parsed as %q, %v", text, a, reparsed, err)
		}
	})
}
