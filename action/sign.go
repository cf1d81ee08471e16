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
	HeaderDelivery  = "Rota-Delivery"  // the id in the body, for whoever only passes it on
)

// DefaultTolerance is how old a delivery may be by its signature, and how far
// ahead the clock of the sender.
const DefaultTolerance = 5 * time.Minute

// signatureMax bounds what is read of a header: strangers send it.
const signatureMax = 4 << 10

// Sign writes the signature of a body that is sent at a time:
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

// Verify holds the body of a delivery to the signature in its header
// HeaderSignature. Nil means that it was made with the secret, at most a tolerance
// ago: 0 is DefaultTolerance. There may be several v1, one of which has to be
// right, and parts that a later version brings are left alone. A refusal is a
// *rota.Error with the code Denied.
//
// Whoever must not act twice remembers the field id of the body as well: the same
// delivery comes again when its answer was lost. It is HeaderDelivery, too, but
// headers are not signed: a stranger who has seen a delivery can send it under
// another.
func Verify(secret, header string, body []byte, now time.Time, tolerance time.Duration) error {
	if tolerance <= 0 {
		tolerance = DefaultTolerance
	}
	t, sums, err := readSignature(header)
	if err != nil {
		return err
	}
	if secret == "" {
		return signatureError("there is no secret to hold it to")
	}
	want, right := digest(secret, t, body), false
	for _, sum := range sums {
		right = hmac.Equal(sum, want) || right
	}
	if !right {
		return signatureError("it is not that of this body under this secret")
	}
	return checkAge(t, now, tolerance)
}

// checkAge refuses a delivery that was kept to be sent again by somebody else.
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

const maxSeconds = 1 << 40 // some 35,000 years, which durations cannot span and need not

// readSignature takes the parts of a header apart.
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
