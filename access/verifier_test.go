package access

import (
	"strings"
	"testing"

	"github.com/rotajobs/rota"
)

func TestVerifierRoundTrip(t *testing.T) {
	v := NewVerifier("pencil")
	again, err := ParseVerifier(v.String())
	if err != nil || again.String() != v.String() || !again.Matches("pencil") || again.Matches("pen") {
		t.Errorf("%s was parsed as %s, %v", v, again, err)
	}
	if (Verifier{}).Matches("") || NewVerifier("pencil").String() == v.String() {
		t.Error("the zero verifier matches the empty password, or two verifiers have the same salt")
	}
	// From PostgreSQL 15: CREATE ROLE foo PASSWORD 'pencil', salt W22ZaJ0SNY7soEsUEjb6gQ== (RFC 7677).
	known := derive("pencil", "\x5b\x6d\x99\x68\x9d\x12\x35\x8e\xec\xa0\x4b\x14\x12\x36\xfa\x81", 4096)
	want := "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU="
	if known.String() != want {
		t.Errorf("got %s", known)
	}
	for _, text := range []string{
		"", "md5abc", "SCRAM-SHA-256$", "SCRAM-SHA-256$4096:$:", "SCRAM-SHA-256$0:AAAA$AAAA:AAAA", strings.Replace(want, "4096", "100001", 1), strings.Replace(want, "4096", "4095", 1),
		strings.Replace(want, "$WG", "$!!", 1), want + "$", strings.Replace(want, "SHA-256", "SHA-1", 1), want[:len(want)-4],
	} {
		if _, err := ParseVerifier(text); err == nil {
			t.Errorf("%q was accepted as a verifier", text)
		}
	}
}

func TestMockVerifierIsConstantPerUserAndMatchesNothing(t *testing.T) {
	mocks, real := NewMocks("a secret"), NewVerifier("pencil")
	v := mocks.Verifier("bob")
	if v.String() != mocks.Verifier("bob").String() || v.String() == mocks.Verifier("eve").String() || v.String() != NewMocks("a secret").Verifier("bob").String() ||
		v.String() == NewMocks("another").Verifier("bob").String() || NewMocks("").Verifier("bob").String() == NewMocks("").Verifier("bob").String() {
		t.Error("the verifier is not one of this user and this secret")
	}
	if len(v.String()) != len(real.String()) || v.iterations != real.iterations || v.IsZero() || v.Matches("") || v.Matches("bob") {
		t.Errorf("%s differs from %s", v, real)
	}
}

func TestPasswordRules(t *testing.T) {
	for password, want := range map[string]string{
		"correct horse":              "",
		"пароль":                     "", // 12 bytes
		"twelve chars":               "",
		"eleven char":                "at least 12",
		"":                           "has 0 characters",
		strings.Repeat("x", 1024):    "",
		strings.Repeat("x", 1025):    "at most 1024",
		"with \x00 a NUL in it":      "NUL",
		"not UTF-8: \xff\xfe\xfd":    "UTF-8",
		strings.Repeat("\x00", 2000): "NUL",
	} {
		err := CheckPassword(password)
		if (want == "") != (err == nil) || err != nil && (rota.CodeOf(err) != rota.Invalid || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "password")) {
			t.Errorf("%.20q: %v, want %q", password, err, want)
		}
	}
}

func FuzzParseVerifier(f *testing.F) {
	f.Add(NewVerifier("pencil").String())
	f.Add("SCRAM-SHA-256$1:AA==$:")
	f.Add("SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=\n")
	f.Fuzz(func(t *testing.T, text string) {
		v, err := ParseVerifier(text)
		if err != nil {
			if !v.IsZero() || rota.CodeOf(err) != rota.Invalid {
				t.Errorf("%q: %v, %v", text, v, err)
			}
			return
		}
		again, err := ParseVerifier(v.String())
		if err != nil || again.String() != v.String() || v.IsZero() {
			t.Errorf("%q became %q, then %q, %v", text, v, again, err)
		}
	})
}
