package deploy

import (
	"encoding/json"
	"net"
	"net/http"
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
	if !strings.Contains(s.log.String(), "insecure is set") {
		t.Errorf("no warning about the address:\n%s", s.log.String())
	}
	if out, code := m.run(t, m.volume, nil, m.health...); code != 0 {
		t.Errorf("the health check of a healthy server exits with %d: %s\n%s", code, out, s.log.String())
	}
	for host, want := range map[string]int{"localhost:7420": http.StatusOK, "rota": http.StatusOK, "evil.example": http.StatusMisdirectedRequest} {
		if got := m.statusFor(t, host); got != want {
			t.Errorf("a request for %s is answered with %d, want %d", host, got, want)
		}
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

// httpAddress is the address in the file rota.addr of a data directory.
func (m *image) httpAddress(t *testing.T, data string) string {
	t.Helper()
	text, err := os.ReadFile(m.root + data + "/rota.addr")
	if err != nil {
		t.Fatal(err)
	}
	var address struct{ HTTP string }
	if err := json.Unmarshal(text, &address); err != nil {
		t.Fatal(err)
	}
	return "http://" + address.HTTP
}

// statusFor requests the health of the server with a Host header, from an address of this machine that is not a loopback
// address if it has one: a container sees requests to a published port so.
func (m *image) statusFor(t *testing.T, host string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, m.httpAddress(t, m.volume)+"/healthz", nil)
	if err != nil {
		t.Fatal(err)
	}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range addresses {
		if own, is := address.(*net.IPNet); is && own.IP.To4() != nil && !own.IP.IsLoopback() {
			r.URL.Host = net.JoinHostPort(own.IP.String(), r.URL.Port())
		}
	}
	r.Host = host
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	return response.StatusCode
}

// TestImageHasZonesCertificatesAndVersion: an image without a base has only what the Dockerfile copies.
func TestImageHasZonesCertificatesAndVersion(t *testing.T) {
	m := buildImage(t)
	out, code := m.run(t, m.volume, nil, m.entrypoint[0], "cron", "30 2 * * *", "--tz", "Europe/Berlin", "--from", "2026-03-28", "-n", "2", "-o", "json")
	for _, want := range []string{`"at": "2026-03-30T02:30:00+02:00"`, "skipped 2026-03-29 02:30", "every day at 02:30, Berlin time"} {
		if code != 0 || !strings.Contains(out, want) {
			t.Errorf("exit %d, and no %s in\n%s", code, want, out)
		}
	}
	if out, code := m.run(t, m.volume, nil, m.entrypoint[0], "cron", "61 * * * *"); code != 2 {
		t.Errorf("a bad expression exits with %d: %s", code, out)
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
	for _, name := range []string{
		".git", "bin", "dist", "deploy", "cron/testdata", "cron/cron_test.go", "rota-data", "x/rota-data",
		"app.db", "x/app.db-wal", "x/app.db-shm", "x/logs/2026-11-18/a.log", "x/admin.token", "x/admin.scram", "x/rota.addr", "x/rota.lock",
		".env", "x/.env", ".env.local", "server.key", "x/server.pem",
	} {
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
