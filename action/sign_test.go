package action

import (
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

// TestSignMatchesOpenSSL uses signatures that openssl and the hmac module of Python
// computed:
//
//	printf '%s' 'T.BODY' | openssl dgst -sha256 -hmac SECRET
func TestSignMatchesOpenSSL(t *testing.T) {
	for _, v := range []struct {
		secret string
		at     int64
		body   string
		want   string
	}{
		{"whsec_test", 1793862000, `{"event":"job.completed"}`, "t=1793862000,v1=e043bfc405d35fee39c334a30764449f9f8c6de99b80d59e812c07b75d9fdd7c"},
		{"s", 0, "", "t=0,v1=2572e102ebbc88d57bc0ef48471ee28bb7fc8c6e9c0558b3c8e5d276f84ac9c3"},
		{"grüße", 1700000000, "hä ☃", "t=1700000000,v1=407b1e221806b987d60ad10304d6ccbd784d1baf1c0a85630599c3e8fe27d9c1"},
	} {
		at := time.Unix(v.at, 999_999_999)
		if got := Sign(v.secret, at, []byte(v.body)); got != v.want {
			t.Errorf("the signature of %s is %s, want %s", v.body, got, v.want)
		}
		if err := Verify(v.secret, v.want, []byte(v.body), at, time.Minute); err != nil {
			t.Error(err)
		}
	}
}

func TestVerifyAcceptsAndRefuses(t *testing.T) {
	const secret, body = "whsec_test", `{"event":"job.completed"}`
	now := time.Unix(1793862000, 0)
	right := Sign(secret, now, []byte(body))
	_, sum, _ := strings.Cut(right, ",v1=")
	other := Sign("another", now, []byte(body))
	_, otherSum, _ := strings.Cut(other, ",v1=")
	for _, test := range []struct {
		name, secret, header, body string
		now                        time.Time
		tolerance                  time.Duration
		want                       string
	}{
		{"right", secret, right, body, now, time.Minute, ""},
		{"at the edge", secret, right, body, now.Add(time.Minute), time.Minute, ""},
		{"a clock that is behind", secret, right, body, now.Add(-time.Minute), time.Minute, ""},
		{"the default", secret, right, body, now.Add(5 * time.Minute), 0, ""},
		{"two secrets", secret, right + ",v1=" + otherSum, body, now, 0, ""},
		{"two secrets, the other first", secret, "t=1793862000, v1=" + otherSum + ", v1=" + sum, body, now, 0, ""},
		{"a later version beside it", secret, "t=1793862000,v2=abc,v1=" + sum + ",v1=zz", body, now, 0, ""},
		{"capitals", secret, "t=1793862000,v1=" + strings.ToUpper(sum), body, now, 0, ""},

		{"too old", secret, right, body, now.Add(time.Minute + time.Second), time.Minute, "it is 1m1s old; at most 1m0s is allowed"},
		{"too old for the default", secret, right, body, now.Add(5*time.Minute + time.Second), 0, "is 5m1s old"},
		{"too far ahead", secret, right, body, now.Add(-2 * time.Minute), time.Minute, "from a clock 2m0s ahead"},
		{"another body", secret, right, body + " ", now, 0, "does not match this body and this secret"},
		{"another secret", secret, other, body, now, 0, "does not match this body"},
		{"another time", secret, strings.Replace(right, "t=1793862000", "t=1793862001", 1), body, now, 0, "does not match this body"},
		{"half a sum", secret, right[:len(right)-32], body, now, 0, "does not match this body"},
		{"an empty sum", secret, "t=1793862000,v1=", body, now, 0, "does not match this body"},
		{"an empty secret", "", Sign("", now, []byte(body)), body, now, 0, "there is no secret"},
		{"nothing", secret, "", body, now, 0, "header Rota-Signature is missing"},
		{"no time", secret, "v1=" + sum, body, now, 0, "not of the form"},
		{"two times", secret, "t=1,t=1793862000,v1=" + sum, body, now, 0, "two times"},
		{"no sum", secret, "t=1793862000", body, now, 0, "not of the form"},
		{"only another version", secret, "t=1793862000,v0=" + sum, body, now, 0, "not of the form"},
		{"no hexadecimal", secret, "t=1793862000,v1=xyz", body, now, 0, "not of the form"},
		{"a long one", secret, right + strings.Repeat(",v1=00", 1000), body, now, 0, "at most 4096 are read"},
	} {
		err := Verify(test.secret, test.header, []byte(test.body), test.now, test.tolerance)
		switch {
		case test.want == "" && err != nil:
			t.Errorf("%s: %v", test.name, err)
		case test.want != "" && (rota.CodeOf(err) != rota.Denied || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%s: %v; want %s", test.name, err, test.want)
		}
	}
}

// TestVerifyRefusesInvalidTime: the signature is right, but its time is not a number of
// seconds, or not a possible one.
func TestVerifyRefusesInvalidTime(t *testing.T) {
	for _, at := range []string{"soon", "-5", "99999999999999999999", "1793862000.5", "9223372036854775807", ""} {
		header := "t=" + at + ",v1=" + hexOf(digest("s", at, nil))
		if err := Verify("s", header, nil, time.Now(), 0); rota.CodeOf(err) != rota.Denied {
			t.Errorf("%q: %v", at, err)
		}
	}
}

func FuzzVerify(f *testing.F) {
	f.Add("t=1,v1=00", "x")
	f.Add("t=1793862000,v1=e043bfc405d35fee39c334a30764449f9f8c6de99b80d59e812c07b75d9fdd7c", `{"event":"job.completed"}`)
	f.Fuzz(func(t *testing.T, header, body string) {
		if err := Verify("an unknown secret", header, []byte(body), time.Unix(1793862000, 0), 0); err == nil {
			t.Errorf("%q is accepted", header)
		}
	})
}
