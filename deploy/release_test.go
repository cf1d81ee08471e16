package deploy

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// releasePlatforms are the systems that the documentation promises programs for.
var releasePlatforms = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64"}

// makeRelease runs make release and returns the lines of SHA256SUMS, which it checks.
func makeRelease(t *testing.T, dir string, variables ...string) []string {
	t.Helper()
	cmd := exec.Command("make", append([]string{"-s", "release", "DIST=" + dir}, variables...)...)
	cmd.Dir = ".."
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("make release: %v\n%s", err, out)
	}
	check := exec.Command("sha256sum", "--check", "--strict", "SHA256SUMS")
	check.Dir = dir
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("sha256sum: %v\n%s", err, out)
	}
	sums, err := os.ReadFile(filepath.Join(dir, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(sums)), "\n")
}

// TestReleaseIsReproducible builds the release of one platform in the source tree, and expects the bytes that the Dockerfile
// built from a copy of the sources at another path. TestReleaseBuildsEveryPlatform and TestProgramTypeChecksOnOtherSystems check
// the other platforms; make check builds them.
func TestReleaseIsReproducible(t *testing.T) {
	m := buildImage(t)
	program, err := os.ReadFile(m.root + m.entrypoint[0])
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("%x  rota_v0.0.0-image_linux_amd64", sha256.Sum256(program))
	if sums := makeRelease(t, t.TempDir(), "VERSION=v0.0.0-image", "PLATFORMS=linux/amd64"); len(sums) != 1 || sums[0] != want {
		t.Errorf("the checksums differ: %q, want %q", sums, want)
	}
}

// recordBuild is a program in the place of go. It writes its environment and arguments to the file that go would build.
const recordBuild = `#!/bin/sh
[ "$1" = build ] || exec go "$@"
for argument; do
	[ "$last" != -o ] || echo "$GOOS/$GOARCH CGO_ENABLED=$CGO_ENABLED $*" > "$argument"
	last=$argument
done
`

// TestReleaseBuildsEveryPlatform: the target builds a static, reproducible program for each platform and writes its checksum.
func TestReleaseBuildsEveryPlatform(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(t.TempDir(), "go")
	if err := os.WriteFile(program, []byte(recordBuild), 0o755); err != nil {
		t.Fatal(err)
	}
	sums := makeRelease(t, dir, "VERSION=v1.2.3", "GO="+program)
	if len(sums) != len(releasePlatforms) {
		t.Errorf("there are the checksums %q", sums)
	}
	for _, platform := range releasePlatforms {
		name := "rota_v1.2.3_" + strings.ReplaceAll(platform, "/", "_")
		if strings.HasPrefix(platform, "windows/") {
			name += ".exe"
		}
		if !slices.ContainsFunc(sums, func(line string) bool { return strings.HasSuffix(line, "  "+name) }) {
			t.Errorf("%s has no checksum: %q", name, sums)
		}
		build, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Error(err)
			continue
		}
		for _, want := range []string{platform + " CGO_ENABLED=0 ", " -trimpath ", " -buildvcs=false ", " -buildid= ", " -X main.version=v1.2.3 ", " ./cmd/rota\n"} {
			if !strings.Contains(string(build), want) {
				t.Errorf("%s lacks %q: %s", name, want, build)
			}
		}
	}
}
