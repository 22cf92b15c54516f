package sweep_test

import _ "github.com/oxgang/oxgang/policy/rivals" // tests name policies
