package main

import (
	"path/filepath"
	"testing"
)

// TestCopyTranscript replays the transcript in a directory with valid and invalid stores.
func TestCopyTranscript(t *testing.T) {
	file, err := filepath.Abs("testdata/copy/copy.transcript")
	if err != nil {
		t.Fatal(err)
	}
	verifyFixture(t)
	replay(t, file, regenerateTranscript)
}
