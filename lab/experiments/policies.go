package experiments

import _ "github.com/oxgang/oxgang/policy/rivals" // to compare all policies
