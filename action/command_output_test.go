package action

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/rotajobs/rota/internal/mask"
)

// masksTestSecret masks testSecret, as engine.MaskWriter masks the secrets of a run.
func masksTestSecret(to io.Writer) io.WriteCloser {
	set := &mask.Set{}
	set.Add(testSecret)
	return mask.NewWriter(to, set)
}

// TestSecretIsMaskedBeforeTheLimitCutsIt: the limit of the output stands at every place of a secret.
func TestSecretIsMaskedBeforeTheLimitCutsIt(t *testing.T) {
	for limit := range 60 {
		var log bytes.Buffer
		o := newOutput(&log, int64(limit), masksTestSecret)
		fmt.Fprintf(o.stdout(), "the password is %s, and more follows\n", testSecret)
		o.flush()
		if text := log.String(); strings.Contains(text, "co") && !strings.Contains(text, "the output is longer") || strings.Contains(text, "corr") {
			t.Errorf("with %d bytes: %q", limit, text)
		}
	}
}

// TestSecretIsMaskedAcrossStreams: standard error is written while a secret in standard output is not complete.
func TestSecretIsMaskedAcrossStreams(t *testing.T) {
	var log bytes.Buffer
	o := newOutput(&log, 1000, masksTestSecret)
	fmt.Fprint(o.stdout(), "out "+testSecret[:9])
	fmt.Fprint(o.stderr(), "err "+testSecret[:3])
	fmt.Fprint(o.stdout(), testSecret[9:]+"\n")
	fmt.Fprint(o.stderr(), testSecret[3:]+"\n")
	fmt.Fprint(o.stdout(), "end co")
	o.flush()
	if want := "out err ***\n***\nend co"; log.String() != want {
		t.Errorf("%q, want %q", log.String(), want)
	}
}
