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

// cursorBytes is the length of a position; names, which are missing here, have any length.
var cursorBytes = map[cursorKind]int{
	cursorJobs: 16, cursorExecutions: 16, cursorGroups: 16, cursorReservations: 16, cursorDead: 16,
	cursorQueue: 40, cursorAudit: 8, cursorAuditDescending: 8,
}

// cursorOf encodes the position where a page ended. Its checksum detects a truncated or changed
// cursor.
func cursorOf(kind cursorKind, position []byte) api.Text {
	raw := append([]byte{byte(kind)}, position...)
	raw = binary.BigEndian.AppendUint32(raw, crc32.ChecksumIEEE(raw))
	return api.Text(base64.RawURLEncoding.EncodeToString(raw))
}

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
	position := raw[1 : len(raw)-4]
	if n, fixed := cursorBytes[kind]; fixed && len(position) != n {
		return nil, problem.Malformed("cursor", "is not a cursor of this server; omit it to start from the first page")
	}
	return position, nil
}

// idAt returns the id of a position; zero: the start of the list.
func idAt(position []byte) (id rota.ID) {
	copy(id[:], position)
	return id
}
