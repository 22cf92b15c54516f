package supervisor

import (
	"encoding/json"
	"fmt"
	"math"
	"time"
)

// A Notice asks the workers of a job to stop. The workers can read it, too, and write a checkpoint until the deadline.
type Notice struct {
	Deadline time.Time
	Reason   string
}

type noticeJSON struct {
	Deadline float64 `json:"deadline"` // Unix seconds
	Reason   string  `json:"reason"`
}

const maxUnix = 253402300799

// MarshalJSON writes the deadline as Unix seconds, limited to the years 1970 to 9999.
func (n Notice) MarshalJSON() ([]byte, error) {
	at := float64(n.Deadline.Unix()) + float64(n.Deadline.Nanosecond()/1000)/1e6
	return json.Marshal(noticeJSON{min(max(at, 0), maxUnix), n.Reason})
}

// UnmarshalJSON refuses deadlines outside 1970 to 9999.
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

func moment(seconds float64) (time.Time, error) {
	if !(seconds >= 0 && seconds <= maxUnix) {
		return time.Time{}, fmt.Errorf("%g, want Unix seconds from 0 to %d", seconds, int64(maxUnix))
	}
	whole, part := math.Modf(seconds)
	return time.Unix(int64(whole), int64(part*1e9)), nil
}
