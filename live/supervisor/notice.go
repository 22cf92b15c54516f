package supervisor

import (
	"encoding/json"
	"fmt"
	"math"
	"time"
)

// A Notice asks a generation to stop. Its workers read it too: they have until
// the deadline to write a checkpoint.
type Notice struct {
	Deadline time.Time // when SIGKILL follows; past or zero: at once
	Reason   string
}

// noticeJSON is the form of a Notice in notice.json.
type noticeJSON struct {
	Deadline float64 `json:"deadline"` // Unix seconds
	Reason   string  `json:"reason"`
}

// maxUnix is the last second of the year 9999: the largest deadline.
const maxUnix = 253402300799

// MarshalJSON writes the deadline as Unix seconds, to the microsecond; times
// before 1970 or after 9999 as the nearest of those.
func (n Notice) MarshalJSON() ([]byte, error) {
	at := float64(n.Deadline.Unix()) + float64(n.Deadline.Nanosecond()/1000)/1e6
	return json.Marshal(noticeJSON{min(max(at, 0), maxUnix), n.Reason})
}

// UnmarshalJSON refuses deadlines that are no moment between 1970 and 9999.
func (n *Notice) UnmarshalJSON(text []byte) error {
	var j noticeJSON
	if err := json.Unmarshal(text, &j); err != nil {
		return err
	}
	at, err := moment(j.Deadline)
	if err != nil {
		return fmt.Errorf("notice: deadline: %w", err)
	}
	*n = Notice{at, j.Reason}
	return nil
}

// moment is the boundary for Unix seconds from outside: finite, 1970 to 9999.
func moment(seconds float64) (time.Time, error) {
	if !(seconds >= 0 && seconds <= maxUnix) {
		return time.Time{}, fmt.Errorf("%g, want Unix seconds from 0 to %d", seconds, int64(maxUnix))
	}
	whole, part := math.Modf(seconds)
	return time.Unix(int64(whole), int64(part*1e9)), nil
}
