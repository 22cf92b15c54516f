package whatif

// Whys returns every reason of the closed list.
func Whys() []Why { return []Why{Known, NoTarget, NoSpeed, Beyond} }
