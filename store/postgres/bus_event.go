package postgres

import (
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/codec"
)

// textsMax bounds the error and the detail of an event that takes too much of a message.
const textsMax = 256

// appendEvent appends the encoding of an event. An event that takes more than half of a message loses the ends
// of its texts.
func appendEvent(dst []byte, e *rota.Event) ([]byte, error) {
	out, err := codec.AppendEvent(dst, e)
	if err == nil && len(out)-len(dst) > eventBytes(busPayloadMax)/2 {
		short := *e
		short.Error, short.Detail = shortText(e.Error), shortText(e.Detail)
		return codec.AppendEvent(dst, &short)
	}
	return out, err
}

func shortText(text string) string {
	return strings.ToValidUTF8(text[:min(len(text), textsMax)], "")
}

// eventBytes is how many bytes of encoded events fit into a number of characters of a message, which has them in base64.
func eventBytes(characters int) int { return characters / 4 * 3 }
