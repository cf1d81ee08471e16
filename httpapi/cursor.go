package httpapi

import (
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"strings"

	"github.com/rotajobs/rota"
)

// mark is the list that a cursor belongs to.
type mark byte

const (
	markJobs         mark = 'j'
	markQueue        mark = 'q'
	markExecutions   mark = 'e'
	markGroups       mark = 'g'
	markReservations mark = 'r'
	markDead         mark = 'd'
	markTypes        mark = 't'
	markTemplates    mark = 'm'
	markSchedules    mark = 's'
	markAudit        mark = 'a'
	markAuditBack    mark = 'b'
)

// cursorOf writes where a page ended. The sum at its end tells a cursor that
// was cut or changed from one that is right.
func cursorOf(list mark, place []byte) Text {
	raw := append([]byte{byte(list)}, place...)
	raw = binary.BigEndian.AppendUint32(raw, crc32.ChecksumIEEE(raw))
	return Text(base64.RawURLEncoding.EncodeToString(raw))
}

func idCursor(list mark, id rota.ID) Text { return cursorOf(list, id[:]) }

// readCursor reads what cursorOf writes. An empty one is the beginning.
func readCursor(list mark, text string) ([]byte, error) {
	if text == "" {
		return nil, nil
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || strings.ContainsAny(text, "\r\n") || len(raw) < 5 || binary.BigEndian.Uint32(raw[len(raw)-4:]) != crc32.ChecksumIEEE(raw[:len(raw)-4]) {
		return nil, malformed("cursor", "is not one that this server made; take next_cursor as it is, or leave it out to begin anew")
	}
	if mark(raw[0]) != list {
		return nil, malformed("cursor", "belongs to another list; leave it out to begin anew")
	}
	return raw[1 : len(raw)-4], nil
}

func readIDCursor(list mark, text string) (id rota.ID, err error) {
	place, err := readCursor(list, text)
	if err != nil || place == nil {
		return id, err
	}
	if len(place) != len(id) {
		return id, malformed("cursor", "is not one that this server made; leave it out to begin anew")
	}
	return rota.ID(place), nil
}
