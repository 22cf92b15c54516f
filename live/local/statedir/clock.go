package statedir

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"github.com/oxgang/oxgang/live/supervisor"
)

const clockFile = "clock.json"

// drift is how far the machine's clock may differ from the time since boot before it counts as set.
const drift = time.Minute

type clock struct {
	Boot  string        `json:"boot"` // identifies the boot of the machine
	Up    time.Duration `json:"up"`   // time since boot, including suspension
	Wall  time.Time     `json:"wall"`
	Moved time.Time     `json:"set,omitzero"` // time at which the last setting of the clock was noticed; zero: never
}

// next returns the present, given what was stored before: if the clock was set between, Moved is the present. A clock that was set
// while the machine was off is noticed only if it was set back.
func (c clock) next(now clock) clock {
	now.Moved = c.Moved
	passed := now.Wall.Sub(c.Wall)
	known := c.Boot != "" && c.Boot == now.Boot
	if known && (passed-(now.Up-c.Up)).Abs() > drift || !known && !c.Wall.IsZero() && passed < -drift {
		now.Moved = now.Wall
	}
	return now
}

// ClockSet returns when the machine's clock was last set, or zero if never. Unless dry is true, it stores the present
// time in the state directory, to detect the next change.
func ClockSet(dir string, dry bool) (time.Time, error) {
	path := filepath.Join(dir, clockFile)
	var before clock
	if text, err := os.ReadFile(path); err == nil && json.Unmarshal(text, &before) != nil {
		before = clock{} // damaged
	}
	now := before.next(clockNow())
	if dry {
		return now.Moved, nil
	}
	return now.Moved, supervisor.WriteFile(path, now)
}
