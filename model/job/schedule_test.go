package job

import "testing"

func TestScheduleModes(t *testing.T) {
	for m := Unscheduled; m <= Given; m++ {
		if got, err := ParseScheduleMode(m.String()); got != m || err != nil {
			t.Errorf("%d: read back as %d (%v)", m, got, err)
		}
	}
	want := `schedule mode "fast", want one of static, accordion, gns, given`
	if _, err := ParseScheduleMode("fast"); err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
}

func TestBatchScheduleValidate(t *testing.T) {
	tests := []struct {
		name string
		s    BatchSchedule
		want string
	}{
		{"none", BatchSchedule{}, ""},
		{"rule", BatchSchedule{Mode: GNS}, ""},
		{"given", BatchSchedule{Mode: Given, Regimes: []Regime{{32, 10}, {64, 1}}}, ""},
		{"epochs below none", BatchSchedule{Mode: GNS, Epochs: -1}, "schedule: -1 epochs, want 0 to 1000000"},
		{"sizes", BatchSchedule{Mode: GNS, Sizes: []int{16, 32, 16}}, ""},
		{"size 0", BatchSchedule{Mode: GNS, Sizes: []int{16, 0}}, "schedule: size 2: 0, want at least 1 and another than before"},
		{"size again", BatchSchedule{Mode: GNS, Sizes: []int{16, 16}}, "schedule: size 2: 16, want at least 1 and another than before"},
		{"unknown mode", BatchSchedule{Mode: 9}, "schedule: mode 9, want at most 4"},
		{"no regimes", BatchSchedule{Mode: Given}, "schedule: mode given without regimes, want at least 1"},
		{"regimes of a rule", BatchSchedule{Mode: GNS, Regimes: []Regime{{32, 10}}}, `schedule: 1 regimes with mode "gns", want them with mode given only`},
		{"negative epochs", BatchSchedule{Mode: Given, Regimes: []Regime{{32, 10}, {64, -3}}}, "schedule: regime 2: -3 epochs, want 1 to 1000000"},
		{"no batch size", BatchSchedule{Mode: Given, Regimes: []Regime{{0, 10}}}, "schedule: regime 1: batch size 0, want at least 1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			if err := tt.s.Validate(); err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("got error %q, want %q", got, tt.want)
			}
		})
	}
}
