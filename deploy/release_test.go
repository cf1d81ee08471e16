package deploy

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestReleaseIsReproducible builds the release of one platform in the source tree and in a copy at another path, and expects the
// same bytes. The other platforms differ only in GOOS and GOARCH; TestProgramTypeChecksOnOtherSystems checks their code.
func TestReleaseIsReproducible(t *testing.T) {
	m := buildImage(t)
	here, there := t.TempDir(), t.TempDir()
	for dir, source := range map[string]string{here: "..", there: m.source} {
		cmd := exec.Command("make", "-s", "release", "DIST="+dir, "VERSION=v0.0.0-image", "PLATFORMS=linux/amd64")
		cmd.Dir = source
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("make release: %v\n%s", err, out)
		}
	}
	sums, err := os.ReadFile(filepath.Join(here, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	if again, err := os.ReadFile(filepath.Join(there, "SHA256SUMS")); err != nil || string(again) != string(sums) {
		t.Errorf("the checksums differ, %v:\n%s%s", err, sums, again)
	}
	check := exec.Command("sha256sum", "--check", "--strict", "SHA256SUMS")
	check.Dir = here
	if out, err := check.CombinedOutput(); err != nil || !strings.Contains(string(out), "rota_v0.0.0-image_linux_amd64: OK") {
		t.Errorf("sha256sum: %v\n%s", err, out)
	}
}

// TestReleaseNamesEveryPlatform: the target builds for the systems that the documentation promises, and signs each file.
func TestReleaseNamesEveryPlatform(t *testing.T) {
	cmd := exec.Command("make", "-n", "release", "VERSION=v1.2.3")
	cmd.Dir = ".."
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{
		"linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64", "CGO_ENABLED=0", "-trimpath", "-X main.version=v1.2.3", "SHA256SUMS",
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("make release lacks %s:\n%s", want, out)
		}
	}
}
