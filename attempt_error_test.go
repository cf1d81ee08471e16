package rota_test

import (
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func TestPermanentAndRetryAtKeepTextAndCauses(t *testing.T) {
	at := time.Date(2026, 11, 15, 7, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		err       error
		permanent bool
		at        time.Time
	}{
		"plain":             {io.EOF, false, time.Time{}},
		"permanent":         {rota.Permanent(io.EOF), true, time.Time{}},
		"later":             {rota.RetryAt(at, io.EOF), false, at},
		"both":              {rota.Permanent(rota.RetryAt(at, io.EOF)), true, at},
		"the outermost":     {rota.RetryAt(at, rota.RetryAt(at.Add(time.Hour), io.EOF)), false, at},
		"permanent, inside": {fmt.Errorf("%w", rota.Permanent(io.EOF)), true, time.Time{}},
		"later, inside":     {errors.Join(rota.RetryAt(at, io.EOF)), false, at},
	} {
		got, found := rota.RetryTime(c.err)
		if rota.IsPermanent(c.err) != c.permanent || found != !c.at.IsZero() || !got.Equal(c.at) {
			t.Errorf("%s: permanent %v, later %v %v", name, rota.IsPermanent(c.err), got, found)
		}
		if !errors.Is(c.err, io.EOF) || c.err.Error() != "EOF" {
			t.Errorf("%s: it reads %q", name, c.err)
		}
	}
}

func TestPermanentAndRetryAtOfNilAreNil(t *testing.T) {
	if rota.Permanent(nil) != nil || rota.RetryAt(time.Now(), nil) != nil || rota.IsPermanent(nil) {
		t.Error("nil became an error")
	}
}
