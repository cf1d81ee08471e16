package httpapi

import (
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/api/problem"
)

// cursorKind is the list that a cursor belongs to.
type cursorKind byte

const (
	cursorJobs            cursorKind = 'j'
	cursorQueue           cursorKind = 'q'
	cursorExecutions      cursorKind = 'e'
	cursorGroups          cursorKind = 'g'
	cursorReservations    cursorKind = 'r'
	cursorDead            cursorKind = 'd'
	cursorTypes           cursorKind = 't'
	cursorTemplates       cursorKind = 'm'
	cursorSchedules       cursorKind = 's'
	cursorAudit           cursorKind = 'a'
	cursorAuditDescending cursorKind = 'b'
)

// cursorOf encodes the position where a page ended. Its checksum detects a truncated or changed
// cursor.
func cursorOf(kind cursorKind, position []byte) api.Text {
	raw := append([]byte{byte(kind)}, position...)
	raw = binary.BigEndian.AppendUint32(raw, crc32.ChecksumIEEE(raw))
	return api.Text(base64.RawURLEncoding.EncodeToString(raw))
}

func idCursor(kind cursorKind, id rota.ID) api.Text { return cursorOf(kind, id[:]) }

// readCursor decodes a cursor. An empty cursor is the start of the list.
func readCursor(kind cursorKind, text string) ([]byte, error) {
	if text == "" {
		return nil, nil
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || strings.ContainsAny(text, "\r\n") || len(raw) < 5 || binary.BigEndian.Uint32(raw[len(raw)-4:]) != crc32.ChecksumIEEE(raw[:len(raw)-4]) {
		return nil, problem.Malformed("cursor", "is not a cursor of this server; use next_cursor unchanged, or omit it to start from the first page")
	}
	if cursorKind(raw[0]) != kind {
		return nil, problem.Malformed("cursor", "belongs to another list; omit it to start from the first page")
	}
	return raw[1 : len(raw)-4], nil
}

func readIDCursor(kind cursorKind, text string) (id rota.ID, err error) {
	position, err := readCursor(kind, text)
	if err != nil || position == nil {
		return id, err
	}
	if len(position) != len(id) {
		return id, problem.Malformed("cursor", "is not a cursor of this server; omit it to start from the first page")
	}
	return rota.ID(position), nil
}
