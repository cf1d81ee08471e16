package node

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"strings"

	"github.com/rotajobs/rota"
)

// adminTokenVariable is the environment variable with the admin token of the first start.
const adminTokenVariable = "ROTA_ADMIN_TOKEN"

// Length limits of the admin token. A shorter one could be guessed.
const (
	tokenMin = 32
	tokenMax = 4 << 10
)

// openToken reads the admin token, or creates it at the first start.
func openToken(path string, logger *slog.Logger) (string, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return makeToken(path)
	}
	if err != nil {
		return "", dataError(path, err)
	}
	defer file.Close()
	if err := checkTokenMode(path, file, logger); err != nil {
		return "", err
	}
	text, err := io.ReadAll(io.LimitReader(file, tokenMax+1))
	if err != nil {
		return "", dataError(path, err)
	}
	return checkToken(path, strings.TrimSpace(string(text)))
}

// seedToken writes the token of the configuration at the first start, so that several servers can have the same one. A file
// that exists stays: the token in it may have been changed by hand.
func seedToken(path, token string, logger *slog.Logger) error {
	if token == "" {
		return nil
	}
	if _, err := checkToken(adminTokenVariable, token); err != nil {
		return &rota.Error{Code: rota.Invalid, Act: adminTokenVariable, Reason: "it is not a token of at least 32 visible ASCII characters", Hint: "create one with openssl rand -hex 32"}
	}
	switch stored, err := os.ReadFile(path); {
	case errors.Is(err, fs.ErrNotExist):
		if err := writeFile(path, []byte(token+"\n")); err != nil {
			return dataError(path, err)
		}
	case err == nil && strings.TrimSpace(string(stored)) != token:
		logger.Warn(adminTokenVariable+" differs from the token file, which stays; to use the variable, remove the file and start again", "file", path)
	}
	return nil // openToken reports any other error
}

func makeToken(path string) (string, error) {
	var secret [32]byte
	_, _ = rand.Read(secret[:]) // never fails: see crypto/rand
	token := hex.EncodeToString(secret[:])
	if err := writeFile(path, []byte(token+"\n")); err != nil {
		return "", dataError(path, err)
	}
	return token, nil
}

// checkTokenMode refuses a token file that other users may read or change. A file
// that its group may read is accepted with a warning, because some systems pass
// secrets to processes that way.
func checkTokenMode(path string, file *os.File, logger *slog.Logger) error {
	info, err := file.Stat()
	if err != nil {
		return dataError(path, err)
	}
	switch mode := info.Mode(); {
	case !mode.IsRegular():
		return badToken(path, "it is not a regular file")
	case mode.Perm()&0o037 != 0:
		return &rota.Error{
			Code: rota.Invalid, Act: "token file " + path, Reason: fmt.Sprintf("other users may read or change it (mode %v)", mode.Perm()),
			Hint: "chmod 600 " + path + "; if others may have read the token, remove the file: the next start creates a new one",
		}
	case mode.Perm()&0o040 != 0:
		logger.Warn("the group of the token file may read it; restrict it with chmod 600", "file", path)
	}
	return nil
}

func checkToken(path, token string) (string, error) {
	switch {
	case token == "":
		return "", badToken(path, "it is empty")
	case len(token) < tokenMin:
		return "", badToken(path, fmt.Sprintf("the token in it has %d characters; it needs at least %d", len(token), tokenMin))
	case len(token) > tokenMax:
		return "", badToken(path, fmt.Sprintf("the token in it has more than %d characters", tokenMax))
	case strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }):
		return "", badToken(path, "the token in it has characters other than visible ASCII")
	}
	return token, nil
}

func badToken(path, reason string) error {
	return &rota.Error{
		Code: rota.Invalid, Act: "token file " + path, Reason: reason, Hint: "remove the file; the next start creates a new token",
	}
}
