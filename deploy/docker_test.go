package deploy

import (
	"os"
	"strings"
	"syscall"
	"testing"
)

// free replaces the ports of the image by free ones, since several tests and servers share this machine.
var free = map[string]string{"ROTA_HTTP": "0.0.0.0:0", "ROTA_SQL": "0.0.0.0:0"}

// TestImageRunsAndReportsHealth performs the steps of the Dockerfile, runs the image, and runs its health check before the
// start, while it runs, and after it died.
func TestImageRunsAndReportsHealth(t *testing.T) {
	m := buildImage(t)
	for _, port := range m.exposed {
		if !strings.HasSuffix(m.env["ROTA_HTTP"], ":"+port) && !strings.HasSuffix(m.env["ROTA_SQL"], ":"+port) {
			t.Errorf("the image exposes port %s, and the server listens on %s and %s", port, m.env["ROTA_HTTP"], m.env["ROTA_SQL"])
		}
	}
	if len(m.exposed) != 2 || m.volume != m.env["ROTA_DATA"] || m.stopSignal != "SIGTERM" {
		t.Errorf("exposed %v, volume %s, data %s, stop signal %s", m.exposed, m.volume, m.env["ROTA_DATA"], m.stopSignal)
	}
	s := startServer(t, m.command(t, m.volume, free, append(m.entrypoint, m.cmd...)...))
	if !strings.Contains(s.log.String(), "nothing encrypts its requests") {
		t.Errorf("no warning about the address:\n%s", s.log.String())
	}
	if out, code := m.run(t, m.volume, nil, m.health...); code != 0 {
		t.Errorf("the health check of a healthy server exits with %d: %s\n%s", code, out, s.log.String())
	}
	if out, code := m.run(t, m.volume, nil, m.entrypoint[0], "job", "create", "noop", "--wait"); code != 0 {
		t.Errorf("a command in the container exits with %d: %s", code, out)
	}
	s.stop(t, syscall.SIGTERM)

	s = startServer(t, m.command(t, m.volume, free, append(m.entrypoint, m.cmd...)...)) // the volume of the first container
	s.kill()
	if out, code := m.run(t, m.volume, nil, m.health...); code != 6 {
		t.Errorf("the health check of a dead server exits with %d: %s", code, out)
	}
}

// TestImageHasZonesCertificatesAndVersion: an image without a base has only what the Dockerfile copies.
func TestImageHasZonesCertificatesAndVersion(t *testing.T) {
	m := buildImage(t)
	if out, code := m.run(t, m.volume, nil, m.entrypoint[0], "cron", "30 2 * * *", "--tz", "Europe/Berlin", "--from", "2026-03-28"); code != 0 || !strings.Contains(out, "Berlin") {
		t.Errorf("a time zone: exit %d: %s", code, out)
	}
	if text, err := os.ReadFile(m.root + "/etc/ssl/certs/ca-certificates.crt"); err != nil || !strings.Contains(string(text), "BEGIN CERTIFICATE") {
		t.Errorf("the certificates: %v", err)
	}
	if out, _ := m.run(t, m.volume, nil, m.entrypoint[0], "version"); !strings.HasPrefix(out, "rota v0.0.0-image ") {
		t.Errorf("the version is %s", out)
	}
	for _, name := range []string{"/tmp", m.volume} {
		info, err := os.Stat(m.root + name)
		if err != nil {
			t.Fatal(err)
		}
		uid, _ := ids(m.user)
		if owner := info.Sys().(*syscall.Stat_t).Uid; os.Getuid() == 0 && owner != uint32(uid) {
			t.Errorf("%s belongs to user %d", name, owner)
		}
	}
}

// TestBuildContextLeavesOutDataAndHistory: files with data and tokens must not get into an image.
func TestBuildContextLeavesOutDataAndHistory(t *testing.T) {
	for _, name := range []string{".git", "rota-data", "bin", "dist", "app.db", "x/app.db-wal", "cron/testdata", "cron/cron_test.go"} {
		if !ignored(name) {
			t.Errorf("the build context contains %s", name)
		}
	}
	for _, name := range []string{"go.mod", "Makefile", "cmd/rota/main.go", "store/sqlite/migrations", "httpapi/docs.html"} {
		if ignored(name) {
			t.Errorf("the build context lacks %s", name)
		}
	}
}
