extension SandboxProfile {
    /// EMV's test terminal, as `docs/examples/terminal-test.json` has it.
    static let terminal = #"""
        {
          "version": 1,
          "environment": "test",
          "terminalData": {
            "9F33": "000808",
            "9F35": "21",
            "9F40": "6000C03000",
            "9F1C": "3030303030303031",
            "9F1E": "4e46433030303031",
            "9F16": "54455354204d45524348414e542020",
            "9F15": "5311",
            "9F4E": "6e66632d7461702074657374207465726d696e616c",
            "9F39": "07",
            "9F01": "000000000001"
          },
          "combinations": [
            {
              "aid": "A0000000031010",
              "kernel": 3,
              "limits": {
                "transaction": 1000000,
                "cvmRequired": 5000,
                "floor": 0,
                "zeroAmountAllowed": true,
                "ttq": "22004000"
              }
            },
            {
              "aid": "A0000000032010",
              "kernel": 3,
              "limits": {
                "transaction": 1000000,
                "cvmRequired": 5000,
                "floor": 0,
                "zeroAmountAllowed": true,
                "ttq": "22004000"
              }
            },
            {
              "aid": "A0000000032020",
              "kernel": 3,
              "limits": {
                "transaction": 1000000,
                "cvmRequired": 5000,
                "floor": 0,
                "zeroAmountAllowed": true,
                "ttq": "22004000"
              }
            },
            {
              "aid": "A0000000041010",
              "kernel": 2,
              "riskManagement": {
                "merchantForcedOnline": true,
                "checksVelocity": false
              },
              "kernelData": {
                "DF811B": "A0",
                "DF8117": "00",
                "DF8118": "20",
                "DF8119": "08",
                "DF811F": "08",
                "DF8120": "F45084800C",
                "DF8121": "0000000000",
                "DF8122": "F45084800C",
                "DF8123": "000000000000",
                "DF8124": "000001000000",
                "DF8125": "000001000000",
                "DF8126": "000000005000",
                "9F1D": "2C00800000000000",
                "9F6D": "0001"
              }
            },
            {
              "aid": "A0000000043060",
              "kernel": 2,
              "kernelData": {
                "DF811B": "A0",
                "DF8117": "00",
                "DF8118": "20",
                "DF8119": "08",
                "DF811F": "08",
                "DF8120": "F45084800C",
                "DF8121": "0000000000",
                "DF8122": "F45084800C",
                "DF8123": "000000000000",
                "DF8124": "000001000000",
                "DF8125": "000001000000",
                "DF8126": "000000005000",
                "9F1D": "2C00800000000000",
                "9F6D": "0001"
              }
            },
            {
              "aid": "A00000002501",
              "kernel": 4,
              "limits": {
                "transaction": 1000000,
                "cvmRequired": 5000,
                "floor": 0,
                "zeroAmountAllowed": true
              },
              "kernelData": {
                "9F6D": "C0",
                "9F6E": "18A00003",
                "9F33": "002888",
                "9F09": "0001",
                "DF8120": "DC50840000",
                "DF8121": "0010000000",
                "DF8122": "DE00FC9800"
              }
            },
            {
              "aid": "A0000000651010",
              "kernel": 5,
              "limits": {
                "transaction": 1000000,
                "cvmRequired": 5000,
                "floor": 0,
                "zeroAmountAllowed": true
              },
              "kernelData": {
                "DF811B": "22",
                "9F52": "02",
                "9F53": "500000",
                "9F33": "002808",
                "9F09": "0200",
                "DF8120": "0400000000",
                "DF8121": "0440000000",
                "DF8122": "F850ACF800"
              }
            },
            {
              "aid": "A0000001523010",
              "kernel": 6,
              "limits": {
                "transaction": 1000000,
                "cvmRequired": 5000,
                "floor": 0,
                "zeroAmountAllowed": true,
                "ttq": "22004000"
              }
            },
            {
              "aid": "A000000333010101",
              "kernel": 7,
              "limits": {
                "transaction": 1000000,
                "cvmRequired": 5000,
                "floor": 0,
                "zeroAmountAllowed": true,
                "ttq": "22004000"
              }
            },
            {
              "aid": "A000000333010102",
              "kernel": 7,
              "limits": {
                "transaction": 1000000,
                "cvmRequired": 5000,
                "floor": 0,
                "zeroAmountAllowed": true,
                "ttq": "22004000"
              }
            },
            {
              "aid": "A000000333010103",
              "kernel": 7,
              "limits": {
                "transaction": 1000000,
                "cvmRequired": 5000,
                "floor": 0,
                "zeroAmountAllowed": true,
                "ttq": "22004000"
              }
            },
            {
              "aid": "F04E46432D43380101",
              "kernel": 8,
              "limits": {
                "transaction": 1000000,
                "zeroAmountAllowed": true
              },
              "kernelData": {
                "9F8207": "24",
                "9F8208": "0C",
                "9F8209": "0000",
                "9F820A": "18",
                "9F820B": "0000000000",
                "9F820C": "845084804C",
                "9F820E": "000000005000"
              }
            }
          ]
        }
        """#
}
