package action

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/rotajobs/rota"
)

// The headers of a delivery.
const (
	HeaderSignature = "Rota-Signature" // see Sign
	HeaderEvent     = "Rota-Event"     // such as job.completed
	HeaderDelivery  = "Rota-Delivery"  // the id in the body, for proxies that do not parse the body
)

// DefaultTolerance is the largest accepted age of a signature, and the largest lead
// of the sender's clock.
const DefaultTolerance = 5 * time.Minute

// signatureMax bounds the header, which is untrusted input.
const signatureMax = 4 << 10

// Sign returns the signature of a body that is sent at a time:
//
//	t=1793862000,v1=e043bfc405d35fee39c334a30764449f9f8c6de99b80d59e812c07b75d9fdd7c
//
// t is the time in seconds since 1970, and v1 the HMAC-SHA256 of t, a dot and the
// body, keyed with the secret, in hexadecimal.
func Sign(secret string, at time.Time, body []byte) string {
	t := strconv.FormatInt(at.Unix(), 10)
	return "t=" + t + ",v1=" + hex.EncodeToString(digest(secret, t, body))
}

func digest(secret, t string, body []byte) []byte {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(t))
	mac.Write([]byte{'.'})
	mac.Write(body)
	return mac.Sum(nil)
}

// Verify checks the body of a delivery against the signature in its header
// HeaderSignature. Nil means that the signature was made with the secret, at most the
// tolerance ago; 0 is DefaultTolerance. The header may have several v1, one of which
// has to match. Unknown parts are ignored. The error is a *rota.Error with the code
// Denied.
//
// A receiver that must not act twice also stores the field id of the body: the same
// delivery is sent again when its answer was lost. HeaderDelivery has the same id,
// but headers are not signed: an attacker can replay a body with another header.
func Verify(secret, header string, body []byte, now time.Time, tolerance time.Duration) error {
	if tolerance <= 0 {
		tolerance = DefaultTolerance
	}
	t, sums, err := readSignature(header)
	if err != nil {
		return err
	}
	if secret == "" {
		return signatureError("there is no secret to check it with")
	}
	want, right := digest(secret, t, body), false
	for _, sum := range sums {
		right = hmac.Equal(sum, want) || right
	}
	if !right {
		return signatureError("it does not match this body and this secret")
	}
	return checkAge(t, now, tolerance)
}

// checkAge refuses the replay of an old delivery.
func checkAge(t string, now time.Time, tolerance time.Duration) error {
	seconds, err := strconv.ParseInt(t, 10, 64)
	if err != nil || seconds < 0 || seconds > maxSeconds {
		return signatureError("its t is not a time")
	}
	age := now.Sub(time.Unix(seconds, 0))
	switch {
	case age > tolerance:
		return signatureError(fmt.Sprintf("it is %v old; at most %v is allowed", age.Round(time.Second), tolerance))
	case age < -tolerance:
		return signatureError(fmt.Sprintf("it is from a clock %v ahead; at most %v is allowed", (-age).Round(time.Second), tolerance))
	}
	return nil
}

const maxSeconds = 1 << 40 // about 35,000 years; durations cannot span more

// readSignature parses the header.
func readSignature(header string) (t string, sums [][]byte, err error) {
	if header == "" {
		return "", nil, signatureError("the header " + HeaderSignature + " is missing")
	}
	if len(header) > signatureMax {
		return "", nil, signatureError(fmt.Sprintf("it has %d bytes; at most %d are read", len(header), signatureMax))
	}
	for part := range strings.SplitSeq(header, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch {
		case name == "t" && t != "":
			return "", nil, signatureError("it has two times")
		case name == "t":
			t = value
		case name == "v1":
			if sum, err := hex.DecodeString(value); err == nil {
				sums = append(sums, sum)
			}
		}
	}
	if t == "" || len(sums) == 0 {
		return "", nil, signatureError("it is not of the form t=SECONDS,v1=HEX")
	}
	return t, sums, nil
}

func signatureError(reason string) error {
	return &rota.Error{Code: rota.Denied, Act: "signature", Reason: reason}
}
