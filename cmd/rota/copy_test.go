package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCopyTranscript replays the transcript in a directory with valid and invalid stores.
func TestCopyTranscript(t *testing.T) {
	file, err := filepath.Abs("testdata/copy/copy.transcript")
	if err != nil {
		t.Fatal(err)
	}
	verifyFixture(t)
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	replay(t, file, func(session string) string { return strings.ReplaceAll(regenerateTranscript(session), dir, "/DIR") })
}
